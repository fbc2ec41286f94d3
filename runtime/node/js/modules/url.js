// As the package unenv has it.
export * from "unenv/node/url";
export { default } from "unenv/node/url";
