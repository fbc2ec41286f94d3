// As the package unenv has it.
export * from "unenv/node/tty";
export { default } from "unenv/node/tty";
