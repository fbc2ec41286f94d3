// As the package unenv has it.
export * from "unenv/node/tls";
export { default } from "unenv/node/tls";
