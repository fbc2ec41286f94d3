// As in the package unenv.
export * from "unenv/node/punycode";
export { default } from "unenv/node/punycode";
