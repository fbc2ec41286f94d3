// As in the package unenv.
export * from "unenv/node/repl";
export { default } from "unenv/node/repl";
