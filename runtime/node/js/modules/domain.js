// As the package unenv has it.
export * from "unenv/node/domain";
export { default } from "unenv/node/domain";
