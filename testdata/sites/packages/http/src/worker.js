// Servers written for Node.js, each at a port of its own: the first part of the
// path says whose a request is.
import { handleAsNodeRequest } from "cloudflare:node";
import "./express.js";
import "./koa.js";
import "./fastify.js";

const ports = { express: 3001, koa: 3002, fastify: 3003 };

export default {
  fetch(request, env, ctx) {
    const name = new URL(request.url).pathname.split("/")[1];
    return handleAsNodeRequest(ports[name], request, env, ctx);
  },
};
