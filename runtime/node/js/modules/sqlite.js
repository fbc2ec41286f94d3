// As the package unenv has it.
export * from "unenv/node/sqlite";
export { default } from "unenv/node/sqlite";
