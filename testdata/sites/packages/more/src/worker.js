import { topics as data } from "./data.js";
import { topics as flow } from "./flow.js";
import { topics as text } from "./text.js";

const topics = { ...data, ...flow, ...text };
const told = (_, value) => (typeof value === "bigint" ? `${value}n` : value === undefined ? "undefined" : value);

// Answers /NAME with what the topic gives, or the error that it throws; and / with all of them.
const outcome = async (name) => {
  try {
    const value = await topics[name]();
    return typeof value === "string" ? value : JSON.stringify(value, told);
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};

export default {
  async fetch(request) {
    const name = new URL(request.url).pathname.slice(1);
    if (name !== "") return new Response(await outcome(name));
    const all = {};
    for (const each of Object.keys(topics).sort()) all[each] = await outcome(each);
    return new Response(`${JSON.stringify(all, null, 1)}\n`);
  },
};
