// As in the package unenv.
export * from "unenv/node/domain";
export { default } from "unenv/node/domain";
