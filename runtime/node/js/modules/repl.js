// As the package unenv has it.
export * from "unenv/node/repl";
export { default } from "unenv/node/repl";
