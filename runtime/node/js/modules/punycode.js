// As the package unenv has it.
export * from "unenv/node/punycode";
export { default } from "unenv/node/punycode";
