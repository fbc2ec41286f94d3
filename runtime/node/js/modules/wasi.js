// As in the package unenv.
export * from "unenv/node/wasi";
export { default } from "unenv/node/wasi";
