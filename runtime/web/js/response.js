// https://fetch.spec.whatwg.org/#response-class
import { host } from "./host.js";
import { Body, HEADERS, LIST, HostBody, SOURCE, STREAM, TEXT_TYPE, USED, extract, initBody, teeBody, unusable } from "./body.js";
import { get, headersOver, listFrom } from "./headers.js";
import { define, illegal, include, need } from "./idl.js";

export const STATUS = Symbol("status");
const TEXT = Symbol("statusText");
const EXTRA = Symbol("extra"); // null, or what only some responses have: url, type, redirected, immutable, manual, cf

export class Response {
  constructor(body = null, init) {
    this[STATUS] = 200;
    this[TEXT] = "";
    this[HEADERS] = this[EXTRA] = null;
    const list = (this[LIST] = init === undefined || init === null ? [] : apply(this, init));
    if (typeof body === "string") { // by far the most frequent, so without the detours below
      this[SOURCE] = body.toWellFormed();
      this[STREAM] = null;
      this[USED] = false;
      if (list.length === 0 || get(list, "content-type") === null) list.push("content-type", TEXT_TYPE);
    } else if (body === null) {
      initBody(this, null);
    } else {
      const [source, type] = extract(body);
      initBody(this, source);
      if (type !== null && get(list, "content-type") === null) list.push("content-type", type);
    }
    if (body !== null && this[STATUS] !== 200 && isNullStatus(this[STATUS])) throw new TypeError("Response with null body status (101, 204, 205, or 304) cannot have a body.");
  }
  get type() { return extra(this)?.type ?? "default"; }
  get url() { return extra(this)?.url ?? ""; }
  get redirected() { return extra(this)?.redirected ?? false; }
  get status() { return statusOf(this); }
  get ok() { return statusOf(this) >= 200 && this[STATUS] <= 299; }
  get statusText() { statusOf(this); return this[TEXT]; }
  get headers() {
    statusOf(this);
    return (this[HEADERS] ??= headersOver(this[LIST], this[EXTRA]?.immutable ?? false));
  }
  clone() {
    if (unusable(this)) throw new TypeError("Response.clone: the body has already been used or is locked");
    const copy = new Response();
    copy[STATUS] = statusOf(this);
    copy[TEXT] = this[TEXT];
    copy[LIST] = this[LIST].slice();
    copy[EXTRA] = this[EXTRA] === null ? null : { ...this[EXTRA] };
    teeBody(this, copy);
    return copy;
  }
  static error() {
    const response = new Response();
    response[STATUS] = 0;
    response[EXTRA] = { type: "error", immutable: true };
    return response;
  }
  static redirect(url, status = 302) {
    need(arguments.length, 1, "Response.redirect");
    const href = host.url_href(`${url}`.toWellFormed());
    const code = unsignedShort(status);
    if (![301, 302, 303, 307, 308].includes(code)) throw new RangeError(`Response.redirect: ${code} is not a redirect status (301, 302, 303, 307 or 308)`);
    const response = new Response(null, { status: code });
    response[LIST].push("location", href);
    response[EXTRA] = { immutable: true };
    return response;
  }
  static json(data, init) {
    need(arguments.length, 1, "Response.json");
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Response.json: the value cannot be written as JSON");
    const response = new Response(text, init);
    const list = response[LIST];
    if (get(list, "content-type") === TEXT_TYPE && !namesContentType(init)) list[list.length - 1] = "application/json";
    return response;
  }
}

function namesContentType(init) {
  return init?.headers !== undefined && init.headers !== null && get(listFrom(init.headers), "content-type") !== null;
}

// Reads a ResponseInit into the response and returns its header list.
function apply(response, init) {
  if (typeof init !== "object" && typeof init !== "function") throw new TypeError("Response constructor: the second argument is not an object");
  const { status, statusText, headers, encodeBody, cf } = init;
  if (status !== undefined && status !== 200) {
    const code = unsignedShort(status);
    if (code < 200 || code > 599) throw new RangeError(`Responses may only be constructed with status codes in the range 200 to 599, inclusive; got ${code}.`);
    response[STATUS] = code;
  }
  if (statusText !== undefined) {
    const text = `${statusText}`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new TypeError(`Invalid statusText: ${JSON.stringify(text)}`);
    response[TEXT] = text;
  }
  if (encodeBody !== undefined && encodeBody !== "automatic" && encodeBody !== "manual") {
    throw new TypeError(`encodeBody is "${encodeBody}", not "automatic" or "manual"`);
  }
  if (encodeBody === "manual" || cf !== undefined) response[EXTRA] = { manual: encodeBody === "manual", cf };
  return headers === undefined || headers === null ? [] : listFrom(headers);
}

function unsignedShort(value) {
  const n = Math.trunc(Number(value));
  return Number.isFinite(n) ? ((n % 65536) + 65536) % 65536 : 0;
}

function statusOf(response) {
  const status = response[STATUS];
  if (status === undefined) throw illegal("Response");
  return status;
}

function extra(response) {
  statusOf(response);
  return response[EXTRA];
}

export function isNullStatus(status) {
  return status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
}

export function isResponse(value) {
  return typeof value === "object" && value !== null && value[STATUS] !== undefined;
}

/** A Response for what fetch got; handle is the body's, or -1 for none. */
export function fetched(status, statusText, list, handle, url, redirected, signal) {
  const response = new Response();
  response[STATUS] = status;
  response[TEXT] = statusText;
  response[LIST] = list;
  response[EXTRA] = { url, redirected, type: "default", immutable: true };
  if (handle >= 0) initBody(response, new HostBody(handle, list, signal));
  return response;
}

/** What the host's respond needs of a response besides its body. */
export function head(response) {
  return { status: response[STATUS], text: response[TEXT], list: response[LIST], manual: response[EXTRA]?.manual ?? false };
}

export function install() {
  include(Response, Body);
  Object.defineProperty(Response.prototype, "cf", { get() { return extra(this)?.cf; }, configurable: true });
  define("Response", Response);
}
