// As the package unenv has it.
export * from "unenv/node/readline";
export { default } from "unenv/node/readline";
