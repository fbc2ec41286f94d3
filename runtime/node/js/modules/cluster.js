// As the package unenv has it.
export * from "unenv/node/cluster";
export { default } from "unenv/node/cluster";
