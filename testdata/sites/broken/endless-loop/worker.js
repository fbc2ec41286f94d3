export default {
  fetch(request) {
    if (new URL(request.url).pathname === "/fine") return new Response("fine");
    let turns = 0;
    while (turns >= 0) {
      turns++;
    }
    return new Response(`${turns}`);
  },
};
