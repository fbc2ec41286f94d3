// Each path runs a package that brings a WebAssembly module, as its own documentation shows for Workers.
import { automerge } from "./automerge.js";
import { png, webp } from "./jsquash.js";
import { resvg } from "./resvg.js";
import { sql } from "./sql.js";
import { tokens } from "./tiktoken.js";
import { yoga } from "./yoga.js";

const topics = { automerge, png, resvg, sql, tokens, webp, yoga };

export default {
  async fetch(request) {
    const topic = topics[new URL(request.url).pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic());
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: error.stack, cause: `${error.cause}` }, { status: 500 });
    }
  },
};
