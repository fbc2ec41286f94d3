// As in the package unenv. Functions that open a connection are absent.
import { notImplemented, notImplementedClass } from "node:internal/absent";
import all from "unenv/node/tls";

export * from "unenv/node/tls";

export const connect = notImplemented("tls.connect");
export const createServer = notImplemented("tls.createServer");
export const Server = notImplementedClass("tls.Server");
export const TLSSocket = notImplementedClass("tls.TLSSocket");

export default { ...all, Server, TLSSocket, connect, createServer };
