// As the package unenv has it, with the platform's additions.
import { notImplemented } from "node:internal/absent";
import all from "unenv/node/perf_hooks";

export * from "unenv/node/perf_hooks";

export const createHistogram = notImplemented("perf_hooks.createHistogram");
export const monitorEventLoopDelay = notImplemented("perf_hooks.monitorEventLoopDelay");

// Figures of a process have no meaning for a Worker: zeros, as in production.
const timing = {
  name: "node",
  entryType: "node",
  startTime: 0,
  duration: 0,
  nodeStart: 0,
  v8Start: 0,
  bootstrapComplete: 0,
  environment: 0,
  loopStart: 0,
  loopExit: 0,
  idleTime: 0,
  uvMetricsInfo: { loopCount: 0, events: 0, eventsWaiting: 0 },
};
export function eventLoopUtilization() {
  return { idle: 0, active: 0, utilization: 0 };
}
export function timerify(fn) {
  return fn;
}
function markResourceTiming() {} // no API returns such entries
for (const [name, value] of Object.entries({
  eventLoopUtilization,
  timerify,
  markResourceTiming,
  nodeTiming: { ...timing, toJSON: () => structuredClone(timing) },
})) {
  Object.defineProperty(Performance.prototype, name, { value, writable: true, enumerable: true, configurable: true });
}

export default { ...all, createHistogram, eventLoopUtilization, monitorEventLoopDelay, timerify };
