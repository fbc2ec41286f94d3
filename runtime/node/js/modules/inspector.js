// As in the package unenv.
export * from "unenv/node/inspector";
export { default } from "unenv/node/inspector";
