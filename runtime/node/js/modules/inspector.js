// As the package unenv has it.
export * from "unenv/node/inspector";
export { default } from "unenv/node/inspector";
