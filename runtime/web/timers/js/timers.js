// Go keeps the clock and the order of each request's timers; this file keeps the callbacks. One promise at a time is settled when the next
// timer of the request is due, so a callback's microtasks run before the next callback.
import { host } from "../../webidl/js/host.js";
import { attribute } from "../../webidl/js/idl.js";
import { inRequest } from "../../iocontext/js/owner.js";
import { report } from "../../console/js/report.js";

const tasks = new Map();
let last = 0;

function start(name, callback, delay, args, repeat) {
  if (typeof callback !== "function") {
    throw new TypeError(`${name}: the callback is not a function (code in a string is not run)`);
  }
  const ms = milliseconds(delay);
  const id = ++last;
  pump(host.timer_set(id, ms));
  tasks.set(id, { callback, args, ms, repeat });
  return id;
}

// A delay over 32 bits, such as Infinity, is kept and does not become 0, as on the platform: up to a hundred years.
function milliseconds(delay) {
  return Math.min(Math.max(0, Math.trunc(delay) || 0), 3_153_600_000_000);
}

function pump(due) {
  if (due) due.then(run);
}

function run() {
  const id = host.timer_take();
  const task = tasks.get(id);
  if (task !== undefined) {
    if (!task.repeat) tasks.delete(id);
    try {
      task.callback.apply(globalThis, task.args);
    } catch (error) {
      report(error);
    }
    if (task.repeat && tasks.has(id)) host.timer_again(id, task.ms);
  }
  pump(host.timer_next());
}

function clear(id) {
  inRequest();
  const key = Number(id);
  if (tasks.delete(key)) host.timer_clear(key);
}

/** Calls back in a task of its own, as setTimeout does; returns its number. */
export function task(callback) {
  return start("task", callback, 0, [], false);
}

/** Reports whether a timer is still to come. */
export function isWaiting(id) {
  return tasks.has(id);
}

/** Drops the callbacks of timers that Go gave up with their request. */
export function forgetTimers(ids) {
  for (const id of ids) tasks.delete(id);
}

export function install() {
  attribute("setTimeout", function setTimeout(callback, delay = 0, ...args) {
    return start("setTimeout", callback, delay, args, false);
  });
  attribute("setInterval", function setInterval(callback, delay = 0, ...args) {
    return start("setInterval", callback, delay, args, true);
  });
  attribute("clearTimeout", function clearTimeout(id = 0) {
    clear(id);
  });
  attribute("clearInterval", function clearInterval(id = 0) {
    clear(id);
  });
}
