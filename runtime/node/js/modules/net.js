// As the package unenv has it, and what the platform has beside.
import { notImplementedClass } from "node:internal/absent";

export * from "unenv/node/net";
export { default } from "unenv/node/net";
export const BoundSocket = notImplementedClass("net.BoundSocket");
