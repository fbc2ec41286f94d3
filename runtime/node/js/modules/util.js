// https://nodejs.org/api/util.html
import { internals, load } from "node:internal/host";
import {
  invalidType,
  invalidValue,
  needBoolean,
  needFunction,
  needInteger,
  needObject,
  needSignal,
  needString,
  NodeError,
} from "node:internal/errors";
import { deepEqual } from "node:internal/equal";
import { format, formatWithOptions, inspect, stripVTControlCharacters } from "node:internal/inspect";
import { MIMEParams, MIMEType } from "node:internal/mime";
import { shortest } from "node:internal/myers";
import parseArguments from "node:internal/parseargs";
import systemErrors from "node:internal/systemerrors";
import types from "node:util/types";

export { format, formatWithOptions, inspect, MIMEParams, MIMEType, stripVTControlCharacters, types };
export const { TextEncoder, TextDecoder } = globalThis;
export function parseArgs(config = {}) {
  internals.caution("node:util", "parseArgs", "parseArgs");
  return parseArguments(config);
}

const custom = Symbol.for("nodejs.util.promisify.custom"),
  argumentNames = Symbol("customPromisifyArgs");

/** A function that returns a promise, of one that takes a callback. */
export function promisify(original) {
  needFunction(original, "original");
  const own = original[custom];
  if (own) {
    needFunction(own, "util.promisify.custom");
    return Object.defineProperty(own, custom, { value: own, configurable: true });
  }
  const names = original[argumentNames];
  function promised(...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, ...values) => {
        if (error) return reject(error);
        if (names !== undefined && values.length > 1)
          return resolve(Object.fromEntries(names.map((name, i) => [name, values[i]])));
        resolve(values[0]);
      });
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, custom, { value: promised, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = custom;

/** The opposite of promisify. */
export function callbackify(original) {
  needFunction(original, "original");
  function callbackified(...args) {
    const callback = args.pop();
    needFunction(callback, "last argument");
    original.apply(this, args).then(
      (value) => process.nextTick(callback, null, value),
      (reason) =>
        process.nextTick(
          callback,
          reason ||
            Object.assign(NodeError(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value"), {
              reason,
            }),
        ),
    );
  }
  const own = Object.getOwnPropertyDescriptors(original);
  if (typeof own.length?.value === "number") own.length.value++;
  if (typeof own.name?.value === "string") own.name.value += "Callbackified";
  return Object.defineProperties(callbackified, own);
}

export function inherits(constructor, parent) {
  needFunction(constructor, "ctor");
  needFunction(parent, "superCtor");
  if (parent.prototype === undefined) throw invalidType("superCtor.prototype", "object", parent.prototype);
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

const warned = new Set();

export function deprecate(f, message, code) {
  let told = false;
  function deprecated(...args) {
    if (!told) {
      told = true;
      if (code === undefined || !warned.has(code)) process.emitWarning(message, "DeprecationWarning", code);
      if (code !== undefined) warned.add(code);
    }
    return new.target ? Reflect.construct(f, args, new.target) : f.apply(this, args);
  }
  Object.setPrototypeOf(deprecated, f);
  if (f.prototype) deprecated.prototype = f.prototype;
  return deprecated;
}

export function debuglog(section, callback) {
  const on = () =>
    new RegExp(`(^|,)(${section.replace(/[|\\{}()[\]^$+?.]/g, "\\$&").replaceAll("*", ".*")})(,|$)`, "i").test(
      process.env.NODE_DEBUG ?? "",
    );
  const logger = (...args) => {
    if (on()) internals.log("debug", `${section.toUpperCase()} ${process.pid}: ${format(...args)}`, "");
  };
  Object.defineProperty(logger, "enabled", { get: on, configurable: true, enumerable: true });
  callback?.(logger);
  return logger;
}
export const debug = debuglog;

export function log(...args) {
  internals.log("log", format(...args), "");
}
export function toUSVString(text) {
  return `${text}`.toWellFormed();
}
export function isDeepStrictEqual(a, b) {
  return deepEqual(a, b, true);
}
export function isArray(value) {
  return Array.isArray(value);
}

export function _extend(target, source) {
  return source === null || typeof source !== "object" ? target : Object.assign(target, source);
}

/** A promise that is fulfilled when signal aborts. */
export async function aborted(signal, resource) {
  if (signal === undefined) throw invalidType("signal", "AbortSignal", signal);
  needSignal(signal, "signal");
  needObject(resource, "resource");
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

export function transferableAbortController() {
  return new AbortController();
}
export function transferableAbortSignal(signal) {
  needSignal(signal, "signal");
  return signal;
}

export function getSystemErrorName(number) {
  needInteger(number, "err");
  return systemErrors.get(number)?.[0];
}
export function getSystemErrorMessage(number) {
  return systemErrors.get(number)?.[1];
}
export function getSystemErrorMap() {
  return new Map(systemErrors);
}

export function _errnoException(number, syscall, original) {
  const code = getSystemErrorName(number) ?? `${number}`;
  return Object.assign(new Error(`${syscall} ${code}${original ? ` ${original}` : ""}`), {
    errno: number,
    code,
    syscall,
  });
}
export function _exceptionWithHostPort(number, syscall, address, port) {
  const details = port > 0 ? `${address}:${port}` : address;
  return Object.assign(_errnoException(number, syscall, details), { address }, port ? { port } : {});
}

/** The position of the caller, frame by frame. */
export function getCallSites(count = 10) {
  const depth = typeof count === "number" ? count : 10;
  return new Error().stack
    .split("\n")
    .slice(2, 2 + depth)
    .map((line) => {
      const at = /^ {4}at (?:(.*) \()?(.*?)(?::(\d+):(\d+))?\)?$/.exec(line);
      return {
        functionName: at?.[1] ?? "",
        scriptId: "0",
        scriptName: at?.[2] ?? "",
        lineNumber: +(at?.[3] ?? 0),
        columnNumber: +(at?.[4] ?? 0),
        column: +(at?.[4] ?? 0),
      };
    });
}
export const getCallSite = getCallSites;

/** text with the escape sequences of a style or of several. */
export function styleText(style, text, { validateStream = true, stream = load("node:process").stdout } = {}) {
  needString(text, "text");
  needBoolean(validateStream, "options.validateStream");
  let before = "",
    after = "";
  for (const key of Array.isArray(style) ? style : [style]) {
    if (key === "none") continue;
    const codes = inspect.colors[key];
    if (codes === undefined)
      throw invalidValue(
        "format",
        key,
        `must be one of: ${Object.keys(inspect.colors)
          .map((name) => `'${name}'`)
          .join(", ")}`,
      );
    before += `\u001b[${codes[0]}m`;
    after = `\u001b[${codes[1]}m${after}`;
  }
  return validateStream && !stream?.isTTY ? text : `${before}${text}${after}`;
}

/** The variables of a .env file's text. */
export function parseEnv(content) {
  needString(content, "content");
  const out = {};
  const line =
    /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*('[^']*'|"(?:\\"|[^"])*"|`[^`]*`|[^\n#]*)?[ \t]*(?:#.*)?$/gm;
  for (const [, key, raw = ""] of content.replace(/\r\n?/g, "\n").matchAll(line)) {
    let value = raw.trim();
    const quote = /^(['"`])([\s\S]*)\1$/.exec(value);
    if (quote) value = quote[1] === '"' ? quote[2].replace(/\\n/g, "\n") : quote[2];
    out[key] = value;
  }
  return out;
}

/** The exit code of a process that a signal ended. */
export function convertProcessSignalToExitCode(signal) {
  const { signals } = load("node:os").constants;
  if (!(signal in signals)) throw invalidValue("signalCode", signal);
  return 128 + signals[signal];
}
export function setTraceSigInt() {}

/** The shortest way from one text, or list of texts, to another. */
export function diff(actual, expected) {
  if (actual === expected) return [];
  for (const [name, value] of Object.entries({ actual, expected })) {
    if (Array.isArray(value)) for (const [i, item] of value.entries()) needString(item, `${name}[${i}]`);
    else needString(value, name);
  }
  return shortest(actual, expected);
}

const all = {
  _errnoException,
  _exceptionWithHostPort,
  _extend,
  aborted,
  callbackify,
  convertProcessSignalToExitCode,
  debug,
  debuglog,
  deprecate,
  diff,
  format,
  formatWithOptions,
  getCallSite,
  getCallSites,
  getSystemErrorMap,
  getSystemErrorMessage,
  getSystemErrorName,
  inherits,
  inspect,
  isArray,
  isDeepStrictEqual,
  log,
  MIMEParams,
  MIMEType,
  parseArgs,
  parseEnv,
  promisify,
  setTraceSigInt,
  stripVTControlCharacters,
  styleText,
  TextDecoder,
  TextEncoder,
  toUSVString,
  transferableAbortController,
  transferableAbortSignal,
  types,
};
export const isBoolean = (value) => typeof value === "boolean";
export const isBuffer = (value) => load("node:buffer").Buffer.isBuffer(value);
export const isDate = types.isDate;
export const isError = (value) => value instanceof Error;
export const isFunction = (value) => typeof value === "function";
export const isNull = (value) => value === null;
export const isNullOrUndefined = (value) => value === null || value === undefined;
export const isNumber = (value) => typeof value === "number";
export const isObject = (value) => value !== null && typeof value === "object";
export const isPrimitive = (value) => value === null || (typeof value !== "object" && typeof value !== "function");
export const isRegExp = types.isRegExp;
export const isString = (value) => typeof value === "string";
export const isSymbol = (value) => typeof value === "symbol";
export const isUndefined = (value) => value === undefined;
Object.assign(all, {
  isBoolean,
  isBuffer,
  isDate,
  isError,
  isFunction,
  isNull,
  isNullOrUndefined,
  isNumber,
  isObject,
  isPrimitive,
  isRegExp,
  isString,
  isSymbol,
  isUndefined,
});
export default all;
