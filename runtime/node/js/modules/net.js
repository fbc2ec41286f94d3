// As the package unenv has it.
export * from "unenv/node/net";
export { default } from "unenv/node/net";
