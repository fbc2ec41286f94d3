// As in the package unenv. A Worker has no resolver of its own to set.
import { notImplemented } from "node:internal/absent";
import all from "unenv/node/dns";

export * from "unenv/node/dns";

export const setServers = notImplemented("dns.setServers");

export default { ...all, setServers };
