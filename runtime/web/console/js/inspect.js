// The text of values in console, and in util.inspect and util.format of Node.js. https://nodejs.org/api/util.html#utilinspectobject-options
import { host } from "../../webidl/js/host.js";
import * as types from "../../webidl/js/kinds.js";

const NativeError = Error; // the author may put another in its place

export const custom = Symbol.for("nodejs.util.inspect.custom");

export const defaults = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
};

/** The text of a value. options may be the older arguments showHidden, depth, colors. */
export function inspect(value, options, depth, colors) {
  /** @type {any} */
  const c = { ...defaults, seen: [], indent: 0, level: 0, circular: undefined, stylize: plain };
  if (typeof options === "boolean") {
    c.showHidden = options;
    if (depth !== undefined) c.depth = depth;
    if (colors !== undefined) c.colors = colors;
  } else if (options) {
    for (const key of Object.keys(options)) if (key in defaults || key === "stylize") c[key] = options[key];
    c.own = options;
  }
  if (c.colors && c.stylize === plain) c.stylize = coloured;
  c.maxArrayLength ??= Infinity;
  c.maxStringLength ??= Infinity;
  return show(c, value, 0);
}

function plain(text) {
  return text;
}

/** text without escape sequences of terminals. */
export function withoutStyles(text) {
  // Titles and links end with BEL or ST, all else with a letter.
  return text
    .replace(/[\u001b\u009b]\][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g, "")
    .replace(/[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g, "");
}

function coloured(text, style) {
  const { colors, styles } = /** @type {any} */ (inspect);
  const codes = colors?.[styles[style]];
  return codes === undefined ? text : `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`;
}

const escapes = { 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

function quoted(text) {
  const quote = !text.includes("'")
    ? "'"
    : !text.includes('"')
      ? '"'
      : !text.includes("`") && !text.includes("${")
        ? "`"
        : "'";
  const body = text.replace(
    /[\x00-\x1f\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (c) => {
      const code = c.charCodeAt(0);
      return (
        escapes[code] ??
        (code < 0x100 ? `\\x${code.toString(16).toUpperCase().padStart(2, "0")}` : `\\u${code.toString(16)}`)
      );
    },
  );
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote;
}

function separated(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, "_");
}

function numberText(value, separate) {
  if (Object.is(value, -0)) return "-0";
  const text = `${value}`;
  if (!separate || !/^-?\d+(\.\d+)?$/.test(text)) return text;
  const [whole, fraction] = text.split(".");
  const sign = whole[0] === "-" ? "-" : "";
  const grouped = sign + separated(whole.slice(sign.length));
  return fraction === undefined ? grouped : `${grouped}.${fraction.replace(/(\d{3})(?=\d)/g, "$1_")}`;
}

function primitive(c, value) {
  switch (typeof value) {
    case "string": {
      let rest = "";
      if (value.length > c.maxStringLength) {
        const more = value.length - c.maxStringLength;
        value = value.slice(0, c.maxStringLength);
        rest = `... ${more} more character${more > 1 ? "s" : ""}`;
      }
      if (c.compact !== true && value.length > 16 && value.length > c.breakLength - c.indent - 4) {
        return (
          value
            .split(/(?<=\n)/)
            .map((line) => c.stylize(quoted(line), "string"))
            .join(` +\n${" ".repeat(c.indent + 2)}`) + rest
        );
      }
      return c.stylize(quoted(value), "string") + rest;
    }
    case "number":
      return c.stylize(numberText(value, c.numericSeparator), "number");
    case "bigint":
      return c.stylize(
        `${c.numericSeparator ? `${value < 0n ? "-" : ""}${separated(`${value < 0n ? -value : value}`)}` : value}n`,
        "bigint",
      );
    case "boolean":
      return c.stylize(`${value}`, "boolean");
    case "undefined":
      return c.stylize("undefined", "undefined");
    default:
      return c.stylize(Symbol.prototype.toString.call(value), "symbol");
  }
}

function show(c, value, level, typed) {
  if (value === null) return c.stylize("null", "null");
  if (typeof value !== "object" && typeof value !== "function") return primitive(c, value);
  const whole = value;
  value = behind(value);
  if (value === undefined) return c.stylize("<Revoked Proxy>", "special");
  if (c.customInspect) {
    const own = value[custom];
    if (typeof own === "function" && own !== inspect && !(value.constructor && value.constructor.prototype === value)) {
      const depth = c.depth === null ? null : c.depth - level;
      const result = own.call(whole, depth, { ...publicOptions(c), depth: depth === null ? null : depth }, inspect);
      if (result !== whole)
        return typeof result !== "object"
          ? `${result}`
          : show(c, result, level).replaceAll("\n", `\n${" ".repeat(c.indent)}`);
    }
  }
  if (c.seen.includes(value)) {
    c.circular ??= new Map();
    if (!c.circular.has(value)) c.circular.set(value, c.circular.size + 1);
    return c.stylize(`[Circular *${c.circular.get(value)}]`, "special");
  }
  return raw(c, value, level, typed);
}

/** The target of a proxy: showing it calls none of the traps. undefined if the proxy was revoked. */
export function behind(value) {
  for (;;) {
    const target = host.proxy_target(value);
    if (target === null) return value;
    value = target;
  }
}

function publicOptions(c) {
  const out = {};
  for (const key of Object.keys(defaults)) out[key] = c[key];
  out.stylize = c.stylize;
  return Object.assign(out, { ...c.own, ...out });
}

// The name of the class of an object; null when it has none.
function className(value, c) {
  const holder = namesClass(value);
  if (holder !== undefined) return constructorOf(holder).name;
  if (Object.getPrototypeOf(value) === null) return null;
  return `${builtin(value)} <${inspect(Object.getPrototypeOf(value), { ...publicOptions(c), customInspect: false, depth: -1 })}>`;
}

// The object's own property constructor, if that has a name.
function constructorOf(object) {
  const value = Object.getOwnPropertyDescriptor(object, "constructor")?.value;
  return typeof value === "function" && value.name !== "" ? value : undefined;
}

// The object among a value and its prototypes that names its class.
function namesClass(value) {
  for (let object = value, steps = 0; object && steps <= 1000; object = Object.getPrototypeOf(object), steps++) {
    const cls = constructorOf(object);
    if (cls !== undefined && instanceOf(value, cls)) return object;
  }
}

let builtins;

// Whether a class has the name of a built-in one.
function isBuiltin(cls) {
  builtins ??= new Set(Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][A-Za-z0-9]+$/.test(name)));
  return builtins.has(cls.name);
}

// A property of a prototype that is shown among those of an object.
class Inherited {
  constructor(holder, key) {
    this.holder = holder;
    this.key = key;
  }
}

const LAYERS = 3; // of prototypes that are looked at

// The author's properties in the prototypes of an object, except methods, for showHidden.
function inherited(c, value, level) {
  const found = [];
  if (!c.showHidden || (c.depth !== null && level > c.depth)) return found;
  const named = namesClass(value);
  let holder = Object.getPrototypeOf(value);
  if (named === undefined || (holder === named && isBuiltin(constructorOf(named)))) return found;
  const above = /** @type {Set<string | symbol>} */ (new Set(["constructor"]));
  for (let layer = 0; layer < LAYERS && holder !== null; layer++, holder = Object.getPrototypeOf(holder)) {
    const cls = constructorOf(holder);
    if ((layer > 0 || named === value) && cls !== undefined && isBuiltin(cls)) break;
    const keys = Reflect.ownKeys(holder);
    for (const key of keys) {
      if (above.has(key) || Object.hasOwn(value, key)) continue;
      if (typeof Object.getOwnPropertyDescriptor(holder, key).value !== "function")
        found.push(new Inherited(holder, key));
    }
    for (const key of keys) above.add(key);
  }
  return found;
}

function instanceOf(value, cls) {
  try {
    return value instanceof cls;
  } catch {
    return false;
  }
}

function builtin(value) {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === "" ? "Object" : tag;
}

function prefixOf(name, tag, fallback, size = "") {
  if (name === null)
    return tag !== "" && fallback !== tag
      ? `[${fallback}${size}: null prototype] [${tag}] `
      : `[${fallback}${size}: null prototype] `;
  return tag !== "" && name !== tag ? `${name}${size} [${tag}] ` : `${name}${size} `;
}

function tagOf(c, value, name) {
  let tag = value[Symbol.toStringTag];
  // A tag among the properties is not shown twice.
  const shown = () =>
    c.showHidden
      ? Object.hasOwn(value, Symbol.toStringTag)
      : Object.prototype.propertyIsEnumerable.call(value, Symbol.toStringTag);
  if (typeof tag !== "string" || name === tag || shown()) tag = "";
  return tag;
}

function keysOf(c, value) {
  const symbols = Object.getOwnPropertySymbols(value);
  if (c.showHidden) return [...Object.getOwnPropertyNames(value), ...symbols];
  let keys;
  try {
    keys = Object.keys(value);
  } catch {
    // a module namespace whose bindings are not set yet
    keys = Object.getOwnPropertyNames(value);
  }
  return symbols.length === 0
    ? keys
    : [...keys, ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

// Elements beside which no other properties are looked for: the engine lists all together.
const MANY = 2 ** 16;

// The keys of an array other than indexes: they come last.
function namedKeys(c, value) {
  if (value.length > MANY) return [];
  const keys = keysOf(c, value);
  return keys.slice(keys.findLastIndex(isIndex) + 1);
}

const isIndex = (key) => typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) && +key < 2 ** 32 - 1;

// The shown parts of a value: brackets, entries before the properties, the keys.
function shape(c, value, level, typed) {
  const name = className(value, c),
    tag = tagOf(c, value, name);
  const more = inherited(c, value, level),
    keys = () => [...keysOf(c, value), ...more];
  if (types.isOrdinary(value)) return ordinaryShape(name, tag, keys());
  const rest = () => [...namedKeys(c, value), ...more];
  if (Array.isArray(value)) {
    const prefix = name !== "Array" || tag !== "" ? prefixOf(name, tag, "Array", `(${value.length})`) : "";
    return {
      braces: [`${prefix}[`, "]"],
      keys: rest(),
      entries: () => arrayEntries(c, value, level),
      array: true,
      bare: value.length === 0 && prefix === "" ? "[]" : value.length === 0 ? `${prefix}[]` : undefined,
    };
  }
  if (types.isSet(value))
    return {
      bare: value.size === 0 ? `${prefixOf(name, tag, "Set", "(0)")}{}` : undefined,
      braces: [`${prefixOf(name, tag, "Set", `(${value.size})`)}{`, "}"],
      keys: keys(),
      entries: () => setEntries(c, value, level),
    };
  if (types.isMap(value))
    return {
      bare: value.size === 0 ? `${prefixOf(name, tag, "Map", "(0)")}{}` : undefined,
      braces: [`${prefixOf(name, tag, "Map", `(${value.size})`)}{`, "}"],
      keys: keys(),
      entries: () => mapEntries(c, value, level),
    };
  if (types.isTypedArray(value)) {
    const kind = Object.getOwnPropertyDescriptor(
      Object.getPrototypeOf(Uint8Array.prototype),
      Symbol.toStringTag,
    ).get.call(value);
    const prefix = prefixOf(name, tag, kind, `(${value.length})`);
    return {
      braces: [`${prefix}[`, "]"],
      keys: rest(),
      entries: () => typedEntries(c, value, level),
      array: true,
      bare: value.length === 0 ? `${prefix}[]` : undefined,
    };
  }
  if (types.isMapIterator(value) || types.isSetIterator(value)) {
    const kind = types.isMapIterator(value) ? "Map" : "Set";
    // Reading its entries would use them up.
    return { bare: `[${tag || `${kind} Iterator`}] {}` };
  }
  return objectShape(c, value, level, name, tag, keys(), typed);
}

function objectShape(c, value, level, name, tag, keys, typed) {
  const braces = ["{", "}"];
  let base = "",
    entries = () => [];
  if (types.isArgumentsObject(value)) {
    braces[0] = "[Arguments] {";
    if (keys.length === 0) return { bare: "[Arguments] {}" };
  } else if (typeof value === "function") {
    base = functionText(value, name, tag);
    if (keys.length === 0) return { bare: c.stylize(base, "special") };
  } else if (types.isRegExp(value)) {
    base = RegExp.prototype.toString.call(name === null ? new RegExp(value) : value);
    const prefix = prefixOf(name, tag, "RegExp");
    if (prefix !== "RegExp ") base = `${prefix}${base}`;
    if (keys.length === 0 || (level > c.depth && c.depth !== null)) return { bare: c.stylize(base, "regexp") };
  } else if (types.isDate(value)) {
    base = Number.isNaN(Date.prototype.getTime.call(value))
      ? Date.prototype.toString.call(value)
      : Date.prototype.toISOString.call(value);
    const prefix = prefixOf(name, tag, "Date");
    if (prefix !== "Date ") base = `${prefix}${base}`;
    if (keys.length === 0) return { bare: c.stylize(base, "date") };
  } else if (types.isNativeError(value) || value instanceof NativeError) {
    const text = errorText(c, value, name, tag, keys);
    if (text.keys.length === 0) return { bare: text.base };
    return { braces, base: text.base, keys: text.keys, entries };
  } else if (types.isAnyArrayBuffer(value)) {
    const kind = types.isArrayBuffer(value) ? "ArrayBuffer" : "SharedArrayBuffer";
    braces[0] = `${prefixOf(name, tag, kind)}{`;
    entries = () => bufferEntries(c, value, typed);
  } else if (types.isDataView(value)) {
    braces[0] = `${prefixOf(name, tag, "DataView")}{`;
    entries = () => ["byteLength", "byteOffset", "buffer"].map((key) => `[${key}]: ${nested(c, value[key], level)}`);
  } else if (types.isPromise(value)) {
    braces[0] = `${prefixOf(name, tag, "Promise")}{`;
    entries = () => promiseEntries(c, value, level);
  } else if (types.isWeakSet(value) || types.isWeakMap(value)) {
    braces[0] = `${prefixOf(name, tag, types.isWeakSet(value) ? "WeakSet" : "WeakMap")}{`;
    entries = () => [c.stylize("<items unknown>", "special")];
  } else if (types.isModuleNamespaceObject(value)) {
    braces[0] = "[Module: null prototype] {";
  } else if (types.isBoxedPrimitive(value)) {
    return boxedShape(c, value, name, tag, keys);
  } else if (fieldsOf(value) !== undefined) {
    braces[0] = `${prefixOf(name, "", name)}{`;
    entries = () => fieldsOf(value).map(([key, field, sign]) => `${key}${sign} ${nested(c, field, level)}`);
    if (fieldsOf(value).length === 0) return { bare: `${braces[0]}}` };
  } else {
    return ordinaryShape(name, tag, keys);
  }
  return { braces, base, keys, entries };
}

function ordinaryShape(name, tag, keys) {
  const open = name === "Object" && tag === "" ? "{" : `${prefixOf(name, tag, "Object")}{`;
  return keys.length === 0 ? { bare: `${open}}` } : { braces: [open, "}"], base: "", keys, entries: () => [] };
}

// The shown parts of web platform objects, since their state is private:
// a key, its value and the separator; undefined for other objects.
function fieldsOf(value) {
  const g = globalThis,
    of = (...keys) => keys.map((key) => [key, value[key], ":"]);
  switch (value[Symbol.toStringTag]) {
    case "URL":
      return value instanceof g.URL
        ? of(
            "href",
            "origin",
            "protocol",
            "username",
            "password",
            "host",
            "hostname",
            "port",
            "pathname",
            "search",
            "searchParams",
            "hash",
          )
        : undefined;
    case "Headers":
      return value instanceof g.Headers
        ? [...value].map(([key, text]) => [isName(key) ? key : quoted(key), text, ":"])
        : undefined;
    case "URLSearchParams":
      return value instanceof g.URLSearchParams
        ? [...value].map(([key, text]) => [quoted(key), text, " =>"])
        : undefined;
    case "FormData":
      return value instanceof g.FormData ? [...value].map(([key, entry]) => [quoted(key), entry, " =>"]) : undefined;
    case "Request":
      return value instanceof g.Request ? of("method", "url", "headers", "redirect", "bodyUsed", "cf") : undefined;
    case "Response":
      return value instanceof g.Response
        ? of("status", "statusText", "ok", "redirected", "headers", "type", "url", "bodyUsed")
        : undefined;
    case "File":
      return value instanceof g.File ? of("size", "type", "name", "lastModified") : undefined;
    case "Blob":
      return value instanceof g.Blob ? of("size", "type") : undefined;
    case "AbortSignal":
      return value instanceof g.AbortSignal ? of("aborted") : undefined;
    case "AbortController":
      return value instanceof g.AbortController ? of("signal") : undefined;
    case "ReadableStream":
    case "WritableStream":
      return value instanceof g[value[Symbol.toStringTag]] ? of("locked") : undefined;
    case "CryptoKey":
      return value instanceof g.CryptoKey ? of("type", "extractable", "algorithm", "usages") : undefined;
    case "WebSocket":
      return value instanceof g.WebSocket ? of("url", "readyState") : undefined;
    default:
      return undefined;
  }
}

const isName = (key) => /^[A-Za-z_]\w*$/.test(key);

function boxedShape(c, value, name, tag, keys) {
  let kind, inner;
  if (types.isNumberObject(value)) {
    kind = "Number";
    inner = Number.prototype.valueOf.call(value);
  } else if (types.isStringObject(value)) {
    kind = "String";
    inner = String.prototype.valueOf.call(value);
    keys = keys.filter((key) => !isIndex(key));
  } else if (types.isBooleanObject(value)) {
    kind = "Boolean";
    inner = Boolean.prototype.valueOf.call(value);
  } else if (types.isBigIntObject(value)) {
    kind = "BigInt";
    inner = BigInt.prototype.valueOf.call(value);
  } else {
    kind = "Symbol";
    inner = Symbol.prototype.valueOf.call(value);
  }
  let base = `[${kind}`;
  if (kind !== name) base += name === null ? " (null prototype)" : ` (${name})`;
  base += `: ${primitive({ ...c, stylize: plain }, inner)}]`;
  if (tag !== "" && tag !== name) base += ` [${tag}]`;
  if (keys.length === 0) return { bare: c.stylize(base, kind.toLowerCase()) };
  return { braces: ["{", "}"], base, keys, entries: () => [] };
}

function functionText(value, name, tag) {
  const source = Function.prototype.toString.call(value);
  if (/^class\b/.test(source)) {
    let text = Object.hasOwn(value, "name") && value.name !== "" ? `[class ${value.name}` : "[class (anonymous)";
    if (name !== "Function" && name !== null) text += ` [${name}]`;
    if (tag !== "" && name !== tag) text += ` [${tag}]`;
    const parent = Object.getPrototypeOf(value);
    if (name === null) text += " extends null";
    else if (parent?.name) text += ` extends ${parent.name}`;
    return `${text}]`;
  }
  const kind = `${types.isAsyncFunction(value) ? "Async" : ""}${types.isGeneratorFunction(value) ? "Generator" : ""}Function`;
  let text = `[${kind}`;
  if (name === null) text += " (null prototype)";
  text += value.name === "" ? " (anonymous)]" : `: ${value.name}]`;
  if (name !== kind && name !== null && name !== "Function") text += ` ${name}`;
  if (tag !== "" && name !== tag) text += ` [${tag}]`;
  return text;
}

function errorText(c, error, name, tag, keys) {
  const heading = String(error.name ?? "Error");
  let text = error.stack ? String(error.stack) : NativeError.prototype.toString.call(error);
  const hidden = new Set();
  for (const key of ["name", "message", "stack"]) {
    const at = keys.indexOf(key);
    if (at >= 0 && text.includes(String(error[key]))) hidden.add(key);
  }
  if (error instanceof DOMException) hidden.add("code"); // its name says the same
  keys = keys.filter((key) => !hidden.has(key));
  for (const key of ["cause", "errors"]) {
    if (Object.hasOwn(error, key) && (key === "cause" || Array.isArray(error.errors)) && !keys.includes(key))
      keys.push(key);
  }
  text = named(text, heading, name, tag);
  const stackAt = error.message ? text.indexOf(`${error.message}`) + `${error.message}`.length : 0;
  if (text.indexOf("\n    at", Math.max(0, stackAt)) === -1) text = `[${text.trimEnd()}]`;
  if (c.indent !== 0) text = text.replaceAll("\n", `\n${" ".repeat(c.indent)}`);
  return { base: text.trimEnd(), keys };
}

// An error's text with its class before its name, if the name does not contain it: Error
// [CustomError], DOMException [AbortError]; as in Node.js.
function named(text, heading, name, tag) {
  let length = heading.length,
    fallback = "Error";
  if (name === null) {
    fallback =
      (/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/.exec(text) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(text))?.[1] ?? "";
    length = fallback.length;
    fallback ||= "Error";
  } else if (
    !heading.endsWith("Error") ||
    !text.startsWith(heading) ||
    !(text.length === length || text[length] === ":" || text[length] === "\n")
  ) {
    return text;
  }
  const prefix = prefixOf(name, tag, fallback).slice(0, -1);
  if (heading === prefix) return text;
  if (!prefix.includes(heading)) return `${prefix} [${heading}]${text.slice(length)}`;
  return length === 0 ? `${prefix}: ${text}` : `${prefix}${text.slice(length)}`;
}

function raw(c, value, level, typed) {
  const s = shape(c, value, level, typed);
  const plainBare = s.bare !== undefined && (s.keys === undefined || s.keys.length === 0);
  if (plainBare) return s.bare;
  const { braces, base = "", keys } = s;
  if (c.depth !== null && level > c.depth) {
    const orphan = /^\[([^(:]+).*?: null prototype\](?: \[(.*)\])?/.exec(braces[0]);
    if (orphan !== null) return c.stylize(`[${orphan[2] ?? orphan[1]}: null prototype]`, "special");
    const name = className(value, c);
    return c.stylize(`[${prefixOf(name, tagOf(c, value, name), "").slice(0, -1)}]`, "special");
  }
  c.seen.push(value);
  c.level = level;
  let output;
  c.indent += 0;
  output = s.entries();
  for (const key of keys) output.push(property(c, value, level, key, s.array));
  c.seen.pop();
  let text0 = base,
    open = braces[0];
  if (c.circular?.has(value)) {
    const mark = c.stylize(`<ref *${c.circular.get(value)}>`, "special");
    if (c.compact !== true) text0 = text0 === "" ? mark : `${mark} ${text0}`;
    else open = `${mark} ${open}`;
  }
  if (c.sorted) {
    const compare = c.sorted === true ? undefined : c.sorted;
    if (!s.array) output.sort(compare);
    else
      output = [
        ...output.slice(0, output.length - keys.length),
        ...output.slice(output.length - keys.length).sort(compare),
      ];
  }
  return combine(c, output, text0, [open, braces[1]], s.array, level, value);
}

function combine(c, output, base, braces, array, level, value) {
  const head = base === "" ? "" : `${base} `;
  if (c.compact !== true) {
    if (typeof c.compact === "number" && c.compact >= 1) {
      const entries = output.length;
      if (array && entries > 6) output = grouped(c, output, value);
      if (c.level - level < c.compact && entries === output.length) {
        const start = output.length + c.indent + braces[0].length + base.length + 10;
        if (fits(c, output, start, base)) {
          const joined = output.join(", ");
          if (!joined.includes("\n")) return `${head}${braces[0]} ${joined} ${braces[1]}`;
        }
      }
    }
    const pad = `\n${" ".repeat(c.indent)}`;
    return `${head}${braces[0]}${pad}  ${output.join(`,${pad}  `)}${pad}${braces[1]}`;
  }
  if (fits(c, output, 0, base)) return `${braces[0]}${base === "" ? "" : ` ${base}`} ${output.join(", ")} ${braces[1]}`;
  const pad = `\n${" ".repeat(c.indent)}`;
  const line = base === "" && braces[0].length === 1 ? " " : `${base === "" ? "" : ` ${base}`}\n${pad.slice(1)}  `;
  return `${braces[0]}${line}${output.join(`,${pad}  `)} ${braces[1]}`;
}

function fits(c, output, start, base) {
  let total = output.length + start;
  if (total + output.length > c.breakLength) return false;
  for (const part of output) {
    total += c.colors ? withoutStyles(part).length : part.length;
    if (total > c.breakLength) return false;
  }
  return base === "" || !base.includes("\n");
}

function width(c, text) {
  if (c.colors) text = withoutStyles(text);
  let n = 0;
  for (const char of text.normalize("NFC")) {
    const code = char.codePointAt(0);
    if (
      code >= 0x1100 &&
      (code <= 0x115f ||
        (code >= 0x2e80 && code <= 0xa4cf) ||
        (code >= 0xac00 && code <= 0xd7a3) ||
        (code >= 0xf900 && code <= 0xfaff) ||
        (code >= 0xfe30 && code <= 0xfe6f) ||
        (code >= 0xff01 && code <= 0xff60) ||
        (code >= 0xffe0 && code <= 0xffe6) ||
        (code >= 0x1f300 && code <= 0x1f64f) ||
        (code >= 0x1f900 && code <= 0x1f9ff) ||
        (code >= 0x20000 && code <= 0x3fffd))
    )
      n += 2;
    else if (
      !(
        code <= 0x1f ||
        (code >= 0x7f && code <= 0x9f) ||
        (code >= 0x300 && code <= 0x36f) ||
        (code >= 0x200b && code <= 0x200f) ||
        (code >= 0x20d0 && code <= 0x20ff) ||
        (code >= 0xfe00 && code <= 0xfe0f) ||
        (code >= 0xfe20 && code <= 0xfe2f)
      )
    )
      n++;
  }
  return n;
}

// Puts the items of long arrays into columns.
function grouped(c, output, value) {
  const count = c.maxArrayLength < output.length ? output.length - 1 : output.length;
  const between = 2;
  const lengths = output.slice(0, count).map((text) => width(c, text));
  const total = lengths.reduce((sum, n) => sum + n + between, 0),
    longest = Math.max(...lengths);
  const widest = longest + between;
  if (widest * 3 + c.indent >= c.breakLength || !(total / widest > 5 || longest <= 6)) return output;
  const biased = Math.max(widest - 3 - Math.sqrt(widest - total / output.length), 1);
  const columns = Math.min(
    Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((c.breakLength - c.indent) / widest),
    c.compact * 4,
    15,
  );
  if (columns <= 1) return output;
  const widths = Array.from(
    { length: columns },
    (_, i) => Math.max(...lengths.filter((_, at) => at % columns === i), 0) + between,
  );
  const right =
    value === undefined || output.every((_, i) => typeof value[i] === "number" || typeof value[i] === "bigint");
  const rows = [];
  for (let at = 0; at < count; at += columns) {
    const end = Math.min(at + columns, count);
    let row = "";
    for (let i = at; i < end; i++) {
      const last = i === end - 1;
      const text = last ? output[i] : `${output[i]}, `;
      const wide = widths[i - at] + output[i].length - lengths[i] - (last ? between : 0);
      row += right ? text.padStart(wide) : last ? text : text.padEnd(wide);
    }
    rows.push(row);
  }
  if (count < output.length) rows.push(output[count]);
  return rows;
}

function nested(c, value, level, by = 2, typed = false) {
  c.indent += by;
  const text = show(c, value, level + 1, typed);
  c.indent -= by;
  return text;
}

function more(n) {
  return `... ${n} more item${n > 1 ? "s" : ""}`;
}

function arrayEntries(c, value, level) {
  const output = [],
    most = Math.min(Math.max(0, c.maxArrayLength), value.length);
  for (let i = 0; i < value.length; i++) {
    if (output.length >= most) {
      output.push(more(value.length - i));
      break;
    }
    if (Object.hasOwn(value, i)) {
      output.push(property(c, value, level, `${i}`, true, true));
      continue;
    }
    const end = nextElement(value, i + 1);
    output.push(c.stylize(`<${end - i} empty item${end - i > 1 ? "s" : ""}>`, "undefined"));
    i = end - 1;
  }
  return output;
}

// The index of the next element that an array has, or its length.
function nextElement(value, from) {
  const near = Math.min(value.length, from + MANY);
  for (let i = from; i < near; i++) if (Object.hasOwn(value, i)) return i;
  if (near === value.length) return near;
  const next = Object.keys(value).find((key) => isIndex(key) && +key >= near);
  return next === undefined ? value.length : +next;
}

function typedEntries(c, value, level) {
  const most = Math.min(Math.max(0, c.maxArrayLength), value.length);
  const output = [];
  for (let i = 0; i < most; i++) output.push(primitive(c, value[i]));
  if (value.length > most) output.push(more(value.length - most));
  if (c.showHidden) {
    for (const key of ["BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset", "buffer"])
      output.push(`[${key}]: ${nested(c, value[key], level, 2, true)}`);
  }
  return output;
}

function setEntries(c, value, level) {
  const output = [],
    most = Math.min(Math.max(0, c.maxArrayLength), value.size);
  for (const item of Set.prototype.values.call(value)) {
    if (output.length >= most) break;
    output.push(nested(c, item, level));
  }
  if (value.size > most) output.push(more(value.size - most));
  return output;
}

function mapEntries(c, value, level) {
  const output = [],
    most = Math.min(Math.max(0, c.maxArrayLength), value.size);
  for (const [key, item] of Map.prototype.entries.call(value)) {
    if (output.length >= most) break;
    output.push(`${nested(c, key, level)} => ${nested(c, item, level)}`);
  }
  if (value.size > most) output.push(more(value.size - most));
  return output;
}

function promiseEntries(c, value, level) {
  const [state, result] = host.promise_state(value);
  if (state === 0) return [c.stylize("<pending>", "special")];
  const text = nested(c, result, level);
  return [state === 2 ? `${c.stylize("<rejected>", "special")} ${text}` : text];
}

// typed is true for a typed array, which shows its elements.
function bufferEntries(c, value, typed) {
  if (value.detached) return ["(detached)", `[byteLength]: ${primitive(c, 0)}`];
  if (typed) return [`[byteLength]: ${primitive(c, value.byteLength)}`];
  const bytes = new Uint8Array(value),
    most = Math.min(50, c.maxArrayLength, bytes.length);
  let text = Array.from(bytes.subarray(0, most), (b) => b.toString(16).padStart(2, "0")).join(" ");
  if (bytes.length > most) text += ` ... ${bytes.length - most} more byte${bytes.length - most > 1 ? "s" : ""}`;
  return [`${c.stylize("[Uint8Contents]", "special")}: <${text}>`, `[byteLength]: ${primitive(c, value.byteLength)}`];
}

function property(c, value, level, key, array, item = false, holder = value) {
  if (key instanceof Inherited) {
    const text = property(c, value, level, key.key, false, false, key.holder);
    return c.colors ? `\u001b[2m${text}\u001b[22m` : text;
  }
  const own = Object.getOwnPropertyDescriptor(holder, key) ?? { value: value[key], enumerable: true };
  let text,
    extra = " ";
  if (own.value !== undefined || !(own.get || own.set)) {
    const by = c.compact !== true || !array ? 2 : 3;
    c.indent += by;
    text = show(c, own.value, level + 1);
    if (by === 3 && c.breakLength < width(c, text)) extra = `\n${" ".repeat(c.indent)}`;
    c.indent -= by;
  } else if (own.get !== undefined) {
    text = getterText(c, value, level, own);
  } else {
    text = c.stylize("[Setter]", "special");
  }
  if (item) return text;
  let name;
  if (typeof key === "symbol")
    name = c.stylize(`[${Symbol.prototype.toString.call(key)}]`, "symbol").replace(/^(\[?)\[Symbol/, "$1[Symbol");
  else if (key === "__proto__") name = "['__proto__']";
  else if (own.enumerable === false) name = `[${key}]`;
  else if (isName(key)) name = c.stylize(key, "name");
  else name = c.stylize(quoted(key), "string");
  if (own.enumerable === false && typeof key === "symbol")
    name = `[${c.stylize(Symbol.prototype.toString.call(key), "symbol")}]`;
  return `${name}:${extra}${text}`;
}

function getterText(c, value, level, own) {
  const label = own.set !== undefined ? "Getter/Setter" : "Getter";
  const wanted =
    c.getters &&
    (c.getters === true ||
      (c.getters === "get" && own.set === undefined) ||
      (c.getters === "set" && own.set !== undefined));
  if (!wanted) return c.stylize(`[${label}]`, "special");
  try {
    const got = own.get.call(value);
    if (got === null || typeof got !== "object")
      return `${c.stylize(`[${label}:`, "special")} ${show(c, got, level + 1)}${c.stylize("]", "special")}`;
    return `${c.stylize(`[${label}]`, "special")} ${nested(c, got, level)}`;
  } catch (error) {
    return c.stylize(`[${label}: <Inspection threw (${error.message})>]`, "special");
  }
}

/** Text with %s, %d, %i, %f, %j, %o, %O, %c filled in; the rest joined. */
export function format(...args) {
  return formatWithOptions({}, ...args);
}

export function formatWithOptions(options, ...args) {
  if (args.length === 1 && typeof args[0] === "string") return args[0];
  let next = 0,
    text = "";
  if (typeof args[0] === "string" && args.length > 1) {
    next = 1;
    text = args[0].replace(/%[sdifjoOc%]/g, (spec) => {
      if (spec === "%%") return "%";
      if (next >= args.length) return spec;
      return filled(spec[1], args[next++], options);
    });
  }
  for (let i = next; i < args.length; i++) {
    if (i > 0) text += " ";
    text +=
      typeof args[i] === "string"
        ? args[i]
        : inspect(args[i], { ...options, compact: 3, colors: options.colors ?? false, depth: options.depth ?? 2 });
  }
  return text;
}

function filled(spec, value, options) {
  switch (spec) {
    case "s":
      if (typeof value === "number") return numberText(value, options.numericSeparator);
      if (typeof value === "bigint") return `${value}n`;
      if (typeof value !== "object" || value === null || hasOwnText(value)) return String(value);
      return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
    case "j":
      try {
        return JSON.stringify(value);
      } catch (error) {
        if (/circular/i.test(error.message)) return "[Circular]";
        throw error;
      }
    case "d":
      return typeof value === "bigint"
        ? `${value}n`
        : typeof value === "symbol"
          ? "NaN"
          : numberText(Number(value), options.numericSeparator);
    case "i":
      return typeof value === "bigint"
        ? `${value}n`
        : typeof value === "symbol"
          ? "NaN"
          : // biome-ignore lint/correctness/useParseIntRadix: "0x10" is 16, as in Node.js
            numberText(Number.parseInt(value), options.numericSeparator);
    case "f":
      return typeof value === "symbol" ? "NaN" : numberText(Number.parseFloat(value), options.numericSeparator);
    case "O":
      return inspect(value, options);
    case "o":
      return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    default:
      return "";
  }
}

// Whether the author's class converts its objects to text itself.
function hasOwnText(value) {
  value = behind(value);
  if (value === undefined) return false;
  if (types.isNativeError(value)) return Object.hasOwn(value, "toString") || userClass(value, "toString");
  return (
    Object.hasOwn(value, "toString") ||
    Object.hasOwn(value, Symbol.toPrimitive) ||
    userClass(value, "toString") ||
    userClass(value, Symbol.toPrimitive)
  );
}

const natives = new Set([
  "Object",
  "Array",
  "Error",
  "TypeError",
  "RangeError",
  "SyntaxError",
  "Map",
  "Set",
  "RegExp",
  "Promise",
  "Function",
  "Date",
  "Boolean",
  "Number",
  "String",
  "Symbol",
  "BigInt",
  "EvalError",
  "ReferenceError",
  "URIError",
  "AggregateError",
  "ArrayBuffer",
  "DataView",
  "WeakMap",
  "WeakSet",
]);

function userClass(value, key) {
  for (let p = Object.getPrototypeOf(value); p !== null; p = Object.getPrototypeOf(p)) {
    if (Object.hasOwn(p, key)) return typeof p[key] === "function" && !natives.has(p.constructor?.name);
  }
  return false;
}
