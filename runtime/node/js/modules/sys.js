// The old name of node:util.
export { default } from "node:util";
export * from "node:util";
