// As the package unenv has it, and what the platform has beside.
import all from "unenv/node/perf_hooks";
import { notImplemented } from "node:internal/absent";

export * from "unenv/node/perf_hooks";
export function eventLoopUtilization() { return { idle: 0, active: 0, utilization: 0 }; }
export const timerify = notImplemented("perf_hooks.timerify");
export default { ...all, eventLoopUtilization, timerify };
