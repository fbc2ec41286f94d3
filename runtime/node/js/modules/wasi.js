// As the package unenv has it.
export * from "unenv/node/wasi";
export { default } from "unenv/node/wasi";
