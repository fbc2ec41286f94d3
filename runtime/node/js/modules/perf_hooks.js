// As the package unenv has it.
export * from "unenv/node/perf_hooks";
export { default } from "unenv/node/perf_hooks";
