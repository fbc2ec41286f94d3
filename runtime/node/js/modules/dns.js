// As the package unenv has it.
export * from "unenv/node/dns";
export { default } from "unenv/node/dns";
