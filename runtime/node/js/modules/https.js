// https://nodejs.org/api/https.html: servers and a client as those of node:http.
import { createNotImplementedError } from "node:internal/absent";
import { SecureAgent as Agent, secureGlobalAgent as globalAgent } from "node:internal/http/agent";
import { ClientRequest, optionsOf } from "node:internal/http/client";
import { Server as Plain } from "node:internal/http/server";

/** A server for visitors over TLS, which ends before the Worker, so that it has no settings of TLS. */
export class Server extends Plain {
  addContext() {
    throw createNotImplementedError("https.Server.addContext");
  }
  getTicketKeys() {
    throw createNotImplementedError("https.Server.getTicketKeys");
  }
  setSecureContext() {
    throw createNotImplementedError("https.Server.setSecureContext");
  }
  setTicketKeys() {
    throw createNotImplementedError("https.Server.setTicketKeys");
  }
}

export function createServer(options, listener) {
  return new /** @type {any} */ (Server)(options, listener);
}

export function request(...given) {
  const [options, listener] = optionsOf(...given);
  return new ClientRequest({ ...options, _defaultAgent: globalAgent }, listener);
}

/** A request that is sent at once. */
export function get(...given) {
  return request(...given).end();
}

export { Agent, globalAgent };
export default { Agent, Server, createServer, get, globalAgent, request };
