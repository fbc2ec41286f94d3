// As the package unenv has it.
export * from "unenv/node/querystring";
export { default } from "unenv/node/querystring";
