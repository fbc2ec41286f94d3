// As the package unenv has it.
export * from "unenv/node/http2";
export { default } from "unenv/node/http2";
