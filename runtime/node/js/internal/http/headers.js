// The names and values of headers, as http checks and joins them.
import { NodeError } from "node:internal/errors";

/** https://nodejs.org/api/http.html#httpvalidateheadernamename-label */
export function validateHeaderName(name, label = "Header name") {
  if (typeof name !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
    throw NodeError(TypeError, "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${name}"]`);
  }
}

/** https://nodejs.org/api/http.html#httpvalidateheadervaluename-value */
export function validateHeaderValue(name, value) {
  if (value === undefined)
    throw NodeError(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "undefined" for header "${name}"`);
  for (const one of Array.isArray(value) ? value : [value]) {
    if (!isText(one)) throw NodeError(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
  }
}

/** Reports whether a value can stand in a head: Latin-1 without controls but the tab. */
export function isText(value) {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value);
}

// Of these the first counts, https://nodejs.org/api/http.html#messageheaders.
const SINGLE = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

/** Adds a header to those by name, each one text; with join, every line of a name counts. */
export function addJoined(headers, name, value, join) {
  const key = name.toLowerCase(),
    before = headers[key];
  if (key === "set-cookie") (headers[key] ??= []).push(value);
  else if (before === undefined) headers[key] = value;
  else if (join || !SINGLE.has(key)) headers[key] = `${before}${key === "cookie" ? "; " : ", "}${value}`;
}

export default addJoined;
