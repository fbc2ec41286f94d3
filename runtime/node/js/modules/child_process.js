// As the package unenv has it.
export * from "unenv/node/child_process";
export { default } from "unenv/node/child_process";
