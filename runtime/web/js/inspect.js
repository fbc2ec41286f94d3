// How console shows values: close to what Node and the browsers print.

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
const MAX_STRING = 10000;
const WIDTH = 76;

/** One value as text, on several lines when it is large. */
export function inspect(value, options) {
  return show(value, { depth: options?.depth ?? 2, seen: [], indent: 0 });
}

/** The arguments of a console method as text, with %s %d %i %f %j %o %O %c %%. */
export function format(args) {
  if (args.length === 0) return "";
  let at = 0;
  let out = "";
  if (typeof args[0] === "string") {
    at = 1;
    out = args.length === 1 ? args[0] : args[0].replace(/%[sdifjoOc%]/g, (code) => {
      if (code === "%%") return "%";
      if (at >= args.length) return code;
      return directive(code, args[at++]);
    });
  }
  for (; at < args.length; at++) {
    if (at > 0) out += " ";
    out += typeof args[at] === "string" ? args[at] : inspect(args[at]);
  }
  return out;
}

function directive(code, value) {
  switch (code) {
    case "%s": return typeof value === "string" ? value : typeof value === "object" ? inspect(value, { depth: 0 }) : plain(value);
    case "%d": return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : `${Number(value)}`;
    case "%i": return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : `${parseInt(value, 10)}`;
    case "%f": return typeof value === "symbol" ? "NaN" : `${parseFloat(value)}`;
    case "%j": try { return `${JSON.stringify(value)}`; } catch { return "[Circular]"; }
    case "%o": return inspect(value, { depth: MAX_DEPTH });
    case "%O": return inspect(value);
    default: return "";
  }
}

function plain(value) {
  switch (typeof value) {
    case "bigint": return `${value}n`;
    case "symbol": return value.toString();
    case "function": return named(value);
    default: return Object.is(value, -0) ? "-0" : `${value}`;
  }
}

function show(value, state) {
  if (typeof value === "string") return quote(value);
  if (typeof value === "function") return withProps(named(value), value, state);
  if (typeof value !== "object" || value === null) return plain(value);
  if (state.seen.includes(value)) return "[Circular]";
  try {
    return object(value, state);
  } catch (error) {
    return `[object that cannot be shown: ${typeof error === "object" && error !== null ? error.message : "its getter threw"}]`;
  }
}

function quote(text) {
  const shown = text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}… ${text.length - MAX_STRING} more characters` : text;
  if (!shown.includes("'")) return `'${escape(shown)}'`;
  return shown.includes('"') ? `'${escape(shown).replaceAll("'", "\\'")}'` : `"${escape(shown)}"`;
}

function escape(text) {
  return text.replace(/[\\\x00-\x1f\x7f]/g, (c) => {
    switch (c) {
      case "\\": return "\\\\";
      case "\n": return "\\n";
      case "\t": return "\\t";
      case "\r": return "\\r";
      default: return `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
    }
  });
}

function named(f) {
  const kind = /^class\b/.test(Function.prototype.toString.call(f)) ? "class" : "Function";
  return f.name ? `[${kind}: ${f.name}]` : `[${kind} (anonymous)]`;
}

function constructorName(value) {
  for (let p = Object.getPrototypeOf(value); p !== null; p = Object.getPrototypeOf(p)) {
    const own = Object.getOwnPropertyDescriptor(p, "constructor");
    if (typeof own?.value === "function" && own.value.name) return own.value.name;
  }
  return "";
}

function object(value, state) {
  if (Error.isError(value)) return errorText(value, state);
  const name = constructorName(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return withProps(RegExp.prototype.toString.call(value), value, state);
  if (value instanceof Boolean || value instanceof Number || value instanceof String) return `[${name}: ${show(value.valueOf(), state)}]`;
  if (value instanceof Promise) return "Promise { … }";
  if (Array.isArray(value)) return list(name === "Array" ? "" : `${name}(${value.length}) `, "[", items(value, state), "]", value, state);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return list(`${name}(${value.length}) `, "[", items(value, state), "]", value, state);
  if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`;
  if (value instanceof Map) return list(`Map(${value.size}) `, "{", [...value].map(([k, v]) => `${child(k, value, state)} => ${child(v, value, state)}`), "}", value, state);
  if (value instanceof Set) return list(`Set(${value.size}) `, "{", [...value].map((v) => child(v, value, state)), "}", value, state);
  const platform = platformText(value, name, state);
  if (platform !== undefined) return platform;
  const prefix = name === "Object" ? "" : name === "" ? "[Object: null prototype] " : `${name} `;
  return list(prefix, "{", [], "}", value, state);
}

function platformText(value, name, state) {
  const g = globalThis;
  if (value instanceof g.DOMException) return value.stack || `${value.name}: ${value.message}`;
  if (value instanceof g.URL) return `URL { href: ${quote(value.href)} }`;
  if (value instanceof g.Headers || value instanceof g.URLSearchParams || value instanceof g.FormData) {
    return list(`${name} `, "{", [...value].map(([k, v]) => `${quote(k)} => ${child(v, value, state)}`), "}", {}, state);
  }
  if (value instanceof g.Request) return list("Request ", "{", fields(value, ["method", "url", "headers"], state), "}", {}, state);
  if (value instanceof g.Response) return list("Response ", "{", fields(value, ["status", "statusText", "headers", "url"], state), "}", {}, state);
  if (value instanceof g.Blob) return list(`${name} `, "{", fields(value, ["size", "type"], state), "}", {}, state);
  return undefined;
}

function fields(value, keys, state) {
  return keys.map((key) => `${key}: ${child(value[key], value, state)}`);
}

function items(value, state) {
  const out = [];
  for (let i = 0; i < value.length && i < MAX_ITEMS; i++) out.push(i in value ? child(value[i], value, state) : "<empty>");
  if (value.length > MAX_ITEMS) out.push(`… ${value.length - MAX_ITEMS} more`);
  return out;
}

function child(value, parent, state) {
  if (typeof value === "object" && value !== null && state.depth <= 0 && !Error.isError(value)) {
    return Array.isArray(value) ? "[Array]" : `[${constructorName(value) || "Object"}]`;
  }
  return show(value, { depth: state.depth - 1, seen: [...state.seen, parent], indent: state.indent + 2 });
}

function errorText(error, state) {
  const head = `${error}`;
  let text = error.stack ? `${error.stack}` : head;
  if (!text.startsWith(head) && !text.includes(error.message)) text = `${head}\n${text}`;
  text = text.trimEnd();
  if (error.cause !== undefined && state.depth >= -1) text += `\n[cause]: ${child(error.cause, error, state)}`;
  if (Array.isArray(error.errors) && state.depth >= -1) text += `\n[errors]: ${child(error.errors, error, state)}`;
  return withProps(text, error, state, ["stack", "message", "cause", "errors", "name"]);
}

function withProps(text, value, state, hidden = []) {
  const props = ownProps(value, state, hidden);
  return props.length === 0 ? text : list(`${text} `, "{", props, "}", {}, state);
}

function ownProps(value, state, hidden) {
  const out = [];
  const indexed = Array.isArray(value) || ArrayBuffer.isView(value);
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "symbol" || hidden.includes(key) || (indexed && /^\d+$/.test(key))) continue;
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (!property?.enumerable) continue;
    const shown = property.get ? (property.set ? "[Getter/Setter]" : "[Getter]") : property.set ? "[Setter]" : child(property.value, value, state);
    out.push(`${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)}: ${shown}`);
    if (out.length > MAX_ITEMS) break;
  }
  return out;
}

function list(prefix, open, parts, close, value, state) {
  const all = [...parts, ...ownProps(value, state, [])];
  if (all.length === 0) return `${prefix}${open}${close}`;
  const line = `${prefix}${open} ${all.join(", ")} ${close}`;
  if (line.length + state.indent <= WIDTH && !line.includes("\n")) return line;
  const pad = " ".repeat(state.indent + 2);
  return `${prefix}${open}\n${pad}${all.join(`,\n${pad}`)}\n${" ".repeat(state.indent)}${close}`;
}
