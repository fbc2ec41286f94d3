// As the package unenv has it.
export * from "unenv/node/v8";
export { default } from "unenv/node/v8";
