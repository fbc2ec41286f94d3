// As the package unenv has it.
export * from "unenv/node/fs/promises";
export { default } from "unenv/node/fs/promises";
