// Servers written for Node.js, each at a port of its own: the first part of the
// path says whose a request is. Of the others it names the client that asks the
// server at ?at=, and the answer is what came of it.
import { handleAsNodeRequest } from "cloudflare:node";
import "./express.js";
import "./koa.js";
import "./fastify.js";
import * as requests from "./requests.js";

const ports = { express: 3001, koa: 3002, fastify: 3003 };

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url), name = pathname.split("/")[1];
    if (name in requests) return Response.json(await requests[name](searchParams.get("at")));
    return handleAsNodeRequest(ports[name], request, env, ctx);
  },
};
