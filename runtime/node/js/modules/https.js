// https://nodejs.org/api/https.html: servers as those of node:http. The client is
// as the package unenv has it.
import { Agent, get, globalAgent, request } from "unenv/node/https";
import { createNotImplementedError } from "node:internal/absent";
import { Server as Plain } from "node:internal/http/server";

/** A server of visitors who come by TLS, which ends before the Worker: nothing can be set of it. */
export class Server extends Plain {
  addContext() { throw createNotImplementedError("https.Server.addContext"); }
  getTicketKeys() { throw createNotImplementedError("https.Server.getTicketKeys"); }
  setSecureContext() { throw createNotImplementedError("https.Server.setSecureContext"); }
  setTicketKeys() { throw createNotImplementedError("https.Server.setTicketKeys"); }
}

export function createServer(options, listener) { return new Server(options, listener); }

export { Agent, get, globalAgent, request };
export default { Agent, Server, createServer, get, globalAgent, request };
