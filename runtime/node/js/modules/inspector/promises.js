// As the package unenv has it.
export * from "unenv/node/inspector/promises";
export { default } from "unenv/node/inspector/promises";
