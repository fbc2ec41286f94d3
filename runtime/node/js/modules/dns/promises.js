// As the package unenv has it, with the platform's additions. A Worker has no resolver of its own to set.
import { notImplemented } from "node:internal/absent";
import all from "unenv/node/dns/promises";

export * from "unenv/node/dns/promises";

export const setServers = notImplemented("dns.promises.setServers");
export const ADDRCONFIG = 32,
  ALL = 16,
  V4MAPPED = 8;

export default { ...all, setServers };
