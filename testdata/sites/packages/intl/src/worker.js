import { dateFns, days, luxon, messages } from "./times.js";

const topics = { luxon, "date-fns": dateFns, dayjs: days, messages };

export default {
  fetch(request) {
    const run = topics[new URL(request.url).pathname.slice(1)];
    return run ? Response.json(run()) : new Response("no such topic", { status: 404 });
  },
};
