// As in the package unenv.
export * from "unenv/node/querystring";
export { default } from "unenv/node/querystring";
