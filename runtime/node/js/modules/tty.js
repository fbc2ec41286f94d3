// As in the package unenv.
export * from "unenv/node/tty";
export { default } from "unenv/node/tty";
