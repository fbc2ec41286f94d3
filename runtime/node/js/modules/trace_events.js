// As the package unenv has it.
export * from "unenv/node/trace_events";
export { default } from "unenv/node/trace_events";
