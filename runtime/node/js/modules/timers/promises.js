// https://nodejs.org/api/timers.html#timers-promises-api
import { AbortError, needBoolean, needNumber, needObject, needSignal, NodeError } from "node:internal/errors";
import {
  clearImmediate,
  clearInterval,
  clearTimeout,
  setImmediate as immediate,
  setInterval as interval,
  setTimeout as timeout,
} from "node:timers";

function check(options) {
  needObject(options, "options");
  needSignal(options.signal);
  if (options.ref !== undefined) needBoolean(options.ref, "options.ref");
}

function waiting(start, stop, value, options) {
  const { signal } = options;
  if (signal?.aborted) return Promise.reject(new AbortError(undefined, { cause: signal.reason }));
  return new Promise((resolve, reject) => {
    const aborted = () => {
      stop(timer);
      reject(new AbortError(undefined, { cause: signal.reason }));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", aborted);
      resolve(value);
    });
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

export async function setTimeout(delay, value, options = {}) {
  if (delay !== undefined) needNumber(delay, "delay");
  check(options);
  return waiting((done) => timeout(done, delay), clearTimeout, value, options);
}

export async function setImmediate(value, options = {}) {
  check(options);
  return waiting(immediate, clearImmediate, value, options);
}

export async function* setInterval(delay, value, options = {}) {
  if (delay !== undefined) needNumber(delay, "delay");
  check(options);
  const { signal } = options;
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  let due = 0,
    wake;
  const notify = () => {
    wake?.();
    wake = undefined;
  };
  const timer = interval(() => {
    due++;
    notify();
  }, delay);
  signal?.addEventListener("abort", notify, { once: true });
  try {
    while (!signal?.aborted) {
      if (due === 0)
        await new Promise((resolve) => {
          wake = resolve;
        });
      for (; due > 0; due--) yield value;
    }
    throw new AbortError(undefined, { cause: signal.reason });
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", notify);
  }
}

class Scheduler {
  constructor() {
    throw NodeError(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
  }
  wait(delay, options) {
    return setTimeout(delay, undefined, options);
  }
  yield() {
    return setImmediate();
  }
}

export const scheduler = Object.create(Scheduler.prototype);
export default { setTimeout, setImmediate, setInterval, scheduler };
