// As the package unenv has it.
export * from "unenv/node/dns/promises";
export { default } from "unenv/node/dns/promises";
