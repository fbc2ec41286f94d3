// As the package unenv has it, and what the platform has beside.
export * from "unenv/node/dns/promises";
export { default } from "unenv/node/dns/promises";
export const ADDRCONFIG = 32,
  ALL = 16,
  V4MAPPED = 8;
