// As in the package unenv.
export * from "unenv/node/fs";
export { default } from "unenv/node/fs";
