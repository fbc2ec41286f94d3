// As in the package unenv.
export * from "unenv/node/http2";
export { default } from "unenv/node/http2";
