// As the package unenv has it.
export * from "unenv/node/constants";
export { default } from "unenv/node/constants";
