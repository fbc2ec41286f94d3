// As in the package unenv.
export * from "unenv/node/inspector/promises";
export { default } from "unenv/node/inspector/promises";
