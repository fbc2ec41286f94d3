// As in the package unenv. Sockets are absent.
import { notImplemented, notImplementedClass } from "node:internal/absent";
import all from "unenv/node/dgram";

export * from "unenv/node/dgram";

export const createSocket = notImplemented("dgram.createSocket");
export const Socket = notImplementedClass("dgram.Socket");

export default { ...all, Socket, createSocket };
