// As in the package unenv.
export * from "unenv/node/readline";
export { default } from "unenv/node/readline";
