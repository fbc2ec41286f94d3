// Brings the platform's requests to servers of node:http,
// https://developers.cloudflare.com/workers/runtime-apis/nodejs/http/.
import { NodeError } from "node:internal/errors";
import { answer, serverAt } from "node:internal/http/server";

function needPort(port) {
  if (!Number.isFinite(port) || port < 0 || port > 65535) throw new Error("Failed to determine port for server");
  return port;
}

/** Answers a request by the server that listens at the port, a number or an object with one. */
export async function handleAsNodeRequest(target, request, env, ctx) {
  const port = needPort(typeof target === "number" ? target : target?.port);
  const server = serverAt(port);
  if (server === undefined)
    throw NodeError(
      Error,
      "ERR_INVALID_ARG_VALUE",
      `no server of node:http listens at port ${port}; call server.listen(${port}) while the module is evaluated`,
    );
  return answer(server, request, env, ctx);
}

/** A default export whose requests a server answers: one that listens at the port, or the given one, which is made to listen. */
export function httpServerHandler(target) {
  if (target === undefined || target === null) throw new Error("Server descriptor cannot be null or undefined");
  let port = typeof target === "number" ? target : target.port;
  if ((port === undefined || port === null) && typeof target.listen === "function") {
    if (typeof target.address()?.port !== "number") target.listen();
    port = target.address()?.port;
  }
  needPort(port);
  return {
    async fetch(request, env, ctx) {
      return handleAsNodeRequest(port, request, env, ctx);
    },
  };
}
