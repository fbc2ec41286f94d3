// As the package unenv has it.
export * from "unenv/node/worker_threads";
export { default } from "unenv/node/worker_threads";
