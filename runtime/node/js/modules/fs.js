// As the package unenv has it.
export * from "unenv/node/fs";
export { default } from "unenv/node/fs";
