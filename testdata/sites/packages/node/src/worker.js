// Each path runs what a package's own documentation shows, and answers with what came of it.
import * as topics from "./topics.js";

export default {
  async fetch(request) {
    const topic = topics[new URL(request.url).pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic(request));
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: error.stack }, { status: 500 });
    }
  },
};
