// As the package unenv has it.
export * from "unenv/node/os";
export { default } from "unenv/node/os";
