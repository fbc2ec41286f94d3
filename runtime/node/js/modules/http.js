// As the package unenv has it.
export * from "unenv/node/http";
export { default } from "unenv/node/http";
