// As in the package unenv.
export * from "unenv/node/trace_events";
export { default } from "unenv/node/trace_events";
