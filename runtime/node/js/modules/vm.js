// As the package unenv has it.
export * from "unenv/node/vm";
export { default } from "unenv/node/vm";
