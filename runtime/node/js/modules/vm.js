// As in the package unenv.
export * from "unenv/node/vm";
export { default } from "unenv/node/vm";
