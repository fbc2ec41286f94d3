// https://console.spec.whatwg.org/
import { host } from "../../webidl/js/host.js";
import { expose } from "../../webidl/js/idl.js";
import { format, inspect } from "./inspect.js";
import { isNativeError } from "../../webidl/js/kinds.js";
import { plainArguments } from "./plain.js";
import { trace } from "../../language/js/trace.js";

const groups = new Map(); // how far each request has indented, by its id
const counts = new Map();
const times = new Map();

function print(level, text, args) {
  const indent = groups.size === 0 ? "" : (groups.get(request()) ?? "");
  host.console_log(level, indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`), trace(8), args);
}

function log(level, args) {
  print(level, shown(args), plainArguments(args));
}

// The text of arguments; an exception of the author's own code does not fail the call.
function shown(args) {
  try {
    return format(...args);
  } catch {
    return args.map((value) => one(value)).join(" ");
  }
}

function one(value, options) {
  try {
    return typeof value === "string" && options === undefined ? value : inspect(value, options);
  } catch (error) {
    return `[object that cannot be shown: ${isNativeError(error) ? `${error.name}: ${error.message}` : "its own code threw"}]`;
  }
}

function request() {
  try {
    return host.current();
  } catch {
    // the module is being evaluated
    return 0;
  }
}

/** Removes the open groups of a finished request. */
export function forgetGroups(id) {
  if (groups.size > 0) groups.delete(id);
}

function elapsed(label) {
  const ms = host.clock_now() - times.get(label);
  return `${label}: ${ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${ms.toFixed(3)}ms`}`;
}

const methods = {
  log(...args) {
    log("log", args);
  },
  info(...args) {
    log("info", args);
  },
  debug(...args) {
    log("debug", args);
  },
  warn(...args) {
    log("warn", args);
  },
  error(...args) {
    log("error", args);
  },
  trace(...args) {
    const head = args.length ? `Trace: ${shown(args)}` : "Trace";
    print("trace", `${head}\n${trace(64).trimEnd()}`, plainArguments(args));
  },
  assert(condition = false, ...args) {
    if (condition) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    log("error", args);
  },
  dir(value = undefined, options = undefined) {
    print("log", one(value, { customInspect: false, ...options }), plainArguments([value]));
  },
  dirxml(...args) {
    log("log", args);
  },
  table(data = undefined, columns = undefined) {
    print("log", table(data, columns), plainArguments([data]));
  },
  group(...args) {
    if (args.length) log("log", args);
    const id = request();
    groups.set(id, `${groups.get(id) ?? ""}  `);
  },
  groupCollapsed(...args) {
    methods.group(...args);
  },
  groupEnd() {
    const id = request(),
      indent = groups.get(id) ?? "";
    if (indent.length > 2) groups.set(id, indent.slice(2));
    else groups.delete(id);
  },
  clear() {
    groups.delete(request());
  },
  count(label = "default") {
    const key = `${label}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    print("info", `${key}: ${counts.get(key)}`);
  },
  countReset(label = "default") {
    const key = `${label}`;
    if (counts.delete(key)) return;
    print("warn", `Count for '${key}' does not exist`);
  },
  time(label = "default") {
    const key = `${label}`;
    if (times.has(key)) print("warn", `Timer '${key}' already exists`);
    else times.set(key, host.clock_now());
  },
  timeLog(label = "default", ...args) {
    const key = `${label}`;
    if (!times.has(key)) print("warn", `Timer '${key}' does not exist`);
    else log("log", ["%s", elapsed(key), ...args]);
  },
  timeEnd(label = "default") {
    const key = `${label}`;
    if (!times.has(key)) return print("warn", `Timer '${key}' does not exist`);
    print("info", elapsed(key));
    times.delete(key);
  },
  // For a browser's developer tools, which do not exist here.
  profile() {},
  profileEnd() {},
  timeStamp() {},
};

// https://console.spec.whatwg.org/#table
function table(data, columns) {
  if (typeof data !== "object" || data === null) return shown([data]);
  const rows = rowsOf(data),
    keyed = [...new Set(rows.flatMap(([, row]) => (isObject(row) ? Object.keys(row) : [])))];
  const keys = columns ?? keyed,
    values = rows.some(([, row]) => !isObject(row));
  const cell = (value) => one(value, { depth: isObject(value) && Object.keys(value).length > 2 ? -1 : 0 });
  const grid = [["(index)", ...keys.map(String), ...(values ? ["Values"] : [])]];
  for (const [index, row] of rows) {
    const cells = keys.map((key) => (isObject(row) && Object.hasOwn(row, key) ? cell(row[key]) : ""));
    grid.push([index, ...cells, ...(values ? [isObject(row) ? "" : cell(row)] : [])]);
  }
  const widths = grid[0].map((_, at) => Math.max(...grid.map((row) => row[at].length)) + 2);
  const rule = (left, mid, right) => left + widths.map((w) => "─".repeat(w)).join(mid) + right;
  const lines = grid.map((row) => `│${row.map((text, at) => ` ${text}`.padEnd(widths[at])).join("│")}│`);
  return [rule("┌", "┬", "┐"), lines[0], rule("├", "┼", "┤"), ...lines.slice(1), rule("└", "┴", "┘")].join("\n");
}

const MAX_ROWS = 1000;

function rowsOf(data) {
  const rows =
    data instanceof Map
      ? [...data].map(([key, value], at) => [`${at}`, { Key: key, Values: value }])
      : data instanceof Set
        ? [...data].map((value, at) => [`${at}`, value])
        : Object.entries(data);
  return rows.slice(0, MAX_ROWS);
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

export function install() {
  const console = Object.create({});
  for (const [name, value] of Object.entries(methods)) console[name] = value;
  Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  expose("console", console);
}
