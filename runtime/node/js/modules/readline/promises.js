// As in the package unenv.
export * from "unenv/node/readline/promises";
export { default } from "unenv/node/readline/promises";
