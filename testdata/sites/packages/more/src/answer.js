const told = (_, value) => (typeof value === "bigint" ? `${value}n` : value === undefined ? "undefined" : value);

const outcomeOf = async (topic) => {
  try {
    const value = await topic();
    return typeof value === "string" ? value : JSON.stringify(value, told);
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};

// answering is a Worker that answers /NAME with what the topic gives, or the error that it throws; and / with all of them.
export const answering = (topics) => ({
  async fetch(request) {
    const name = new URL(request.url).pathname.slice(1);
    if (name !== "") return new Response(await outcomeOf(topics[name]));
    const all = {};
    for (const each of Object.keys(topics).sort()) all[each] = await outcomeOf(topics[each]);
    return new Response(`${JSON.stringify(all, null, 1)}\n`);
  },
});
