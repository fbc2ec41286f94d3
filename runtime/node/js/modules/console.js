// As the package unenv has it.
export * from "unenv/node/console";
export { default } from "unenv/node/console";
