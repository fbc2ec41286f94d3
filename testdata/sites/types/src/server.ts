// What brings requests to a server of node:http.
import { handleAsNodeRequest, httpServerHandler } from "cloudflare:node";

const server = { listen() { return server; }, address: () => ({ port: 3000 }) };

export const byPort = httpServerHandler({ port: 3000 }).fetch;
export const byServer = httpServerHandler(server).fetch;
export const byHand = async (request: Request): Promise<Response> => handleAsNodeRequest(3000, request);
// @ts-expect-error a port is a number
handleAsNodeRequest("3000", new Request("https://site.example/"));
