// https://console.spec.whatwg.org/
import { host } from "./host.js";
import { expose } from "./idl.js";
import { format, inspect } from "./inspect.js";

let indent = "";
const counts = new Map();
const times = new Map();

function print(level, text, stack) {
  host.console_log(level, indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`), stack ?? "");
}

function elapsed(label) {
  const ms = host.clock_now() - times.get(label);
  return `${label}: ${ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${ms.toFixed(3)}ms`}`;
}

function labelOf(label) { return label === undefined ? "default" : `${label}`; }

const methods = {
  log(...args) { print("log", format(args)); },
  info(...args) { print("info", format(args)); },
  debug(...args) { print("debug", format(args)); },
  warn(...args) { print("warn", format(args)); },
  error(...args) { print("error", format(args)); },
  trace(...args) {
    const stack = new Error().stack.split("\n").slice(2).join("\n");
    print("trace", args.length ? `Trace: ${format(args)}` : "Trace", stack);
  },
  assert(condition, ...args) {
    if (condition) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    print("error", format(args));
  },
  dir(value, options) { print("log", inspect(value, options ?? undefined)); },
  dirxml(...args) { print("log", format(args)); },
  table(data, columns) { print("log", table(data, columns)); },
  group(...args) {
    if (args.length) print("log", format(args));
    indent += "  ";
  },
  groupCollapsed(...args) { methods.group(...args); },
  groupEnd() { indent = indent.slice(2); },
  clear() { indent = ""; },
  count(label) {
    const key = labelOf(label);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    print("info", `${key}: ${counts.get(key)}`);
  },
  countReset(label) {
    const key = labelOf(label);
    if (counts.delete(key)) return;
    print("warn", `Count for '${key}' does not exist`);
  },
  time(label) {
    const key = labelOf(label);
    if (times.has(key)) print("warn", `Timer '${key}' already exists`);
    else times.set(key, host.clock_now());
  },
  timeLog(label, ...args) {
    const key = labelOf(label);
    if (!times.has(key)) print("warn", `Timer '${key}' does not exist`);
    else print("log", format([elapsed(key), ...args]));
  },
  timeEnd(label) {
    const key = labelOf(label);
    if (!times.has(key)) return print("warn", `Timer '${key}' does not exist`);
    print("info", elapsed(key));
    times.delete(key);
  },
};

function table(data, columns) {
  if (typeof data !== "object" || data === null) return format([data]);
  const rows = Object.entries(data).map(([index, row]) => {
    const cells = typeof row === "object" && row !== null ? row : { Values: row };
    return [index, cells];
  });
  const keys = columns ?? [...new Set(rows.flatMap(([, cells]) => Object.keys(cells)))];
  const grid = [["(index)", ...keys]];
  for (const [index, cells] of rows) {
    grid.push([index, ...keys.map((key) => (key in cells ? inspect(cells[key], { depth: 0 }) : ""))]);
  }
  const widths = grid[0].map((_, at) => Math.max(...grid.map((row) => row[at].length)));
  const lines = grid.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`);
  lines.splice(1, 0, `|${widths.map((w) => "-".repeat(w + 2)).join("|")}|`);
  return lines.join("\n");
}

export function install() {
  const console = Object.create({});
  for (const [name, value] of Object.entries(methods)) console[name] = value;
  Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  expose("console", console);
}
