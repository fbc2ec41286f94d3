// As in the package unenv.
export * from "unenv/node/child_process";
export { default } from "unenv/node/child_process";
