// As the package unenv has it.
export * from "unenv/node/dgram";
export { default } from "unenv/node/dgram";
