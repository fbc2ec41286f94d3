// As the package unenv has it.
export * from "unenv/node/https";
export { default } from "unenv/node/https";
