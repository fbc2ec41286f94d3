// As the package unenv has it.
export * from "unenv/node/readline/promises";
export { default } from "unenv/node/readline/promises";
