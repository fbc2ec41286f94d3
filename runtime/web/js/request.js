// https://fetch.spec.whatwg.org/#request-class
import { host } from "./host.js";
import { AbortSignal, abort, abortError, follow, isSignal, newSignal } from "./abort.js";
import { Body, HEADERS, LIST, HostBody, SOURCE, STREAM, USED, extract, hasBody, initBody, teeBody, unusable } from "./body.js";
import { get, headersOver, listFrom } from "./headers.js";
import { define, illegal, include, need } from "./idl.js";
import { through } from "./streams.js";

const METHOD = Symbol("method");
const HREF = Symbol("url");
const SIGNAL = Symbol("signal"); // null until somebody asks
const EXTRA = Symbol("extra");   // { redirect, cf, immutable, cancelled }

const NOTHING = Object.freeze({ redirect: "follow", cf: undefined, immutable: false });

export class Request {
  constructor(input, init) {
    need(arguments.length, 1, "Request constructor");
    if (init !== undefined && init !== null && typeof init !== "object" && typeof init !== "function") {
      throw new TypeError("Request constructor: the second argument is not an object");
    }
    const from = isRequest(input) ? input : null;
    this[METHOD] = from === null ? "GET" : from[METHOD];
    this[HREF] = from === null ? parse(input) : from[HREF];
    this[HEADERS] = null;
    this[LIST] = from === null ? [] : from[LIST].slice();
    this[EXTRA] = from === null ? NOTHING : { ...from[EXTRA], immutable: false };
    this[SIGNAL] = from === null ? null : follow(from.signal);
    initBody(this, null);
    if (init !== undefined && init !== null) apply(this, init, from);
    if (from !== null && hasBody(from) && !hasBody(this) && !(init?.body !== undefined && init?.body !== null)) {
      takeOver(this, from);
    }
  }
  get method() { return own(this)[METHOD]; }
  get url() { return own(this)[HREF]; }
  get headers() { return (own(this)[HEADERS] ??= headersOver(this[LIST], this[EXTRA].immutable)); }
  get redirect() { return own(this)[EXTRA].redirect; }
  get signal() { return (own(this)[SIGNAL] ??= this[EXTRA].cancelled ? AbortSignal.abort(clientGone()) : newSignal()); }
  get cf() { return own(this)[EXTRA].cf; }
  get integrity() { own(this); return ""; }
  get keepalive() { own(this); return false; }
  clone() {
    if (unusable(own(this))) throw new TypeError("Request.clone: the body has already been used or is locked");
    const copy = new Request(this[HREF]);
    copy[METHOD] = this[METHOD];
    copy[LIST] = this[LIST].slice();
    copy[EXTRA] = { ...this[EXTRA] };
    copy[SIGNAL] = follow(this.signal);
    teeBody(this, copy);
    return copy;
  }
}

function own(request) {
  if (request[METHOD] === undefined) throw illegal("Request");
  return request;
}

export function isRequest(value) {
  return typeof value === "object" && value !== null && value[METHOD] !== undefined && value[HREF] !== undefined;
}

function parse(input) {
  const href = host.url_href(`${input}`.toWellFormed());
  if (/^[^/]*\/\/[^/?#]*@/.test(href)) throw new TypeError(`Request constructor: the URL ${JSON.stringify(href)} holds a user name or password; send them in the Authorization header`);
  return href;
}

function apply(request, init, from) {
  const { method, headers, body, redirect, signal, cf, cache } = init;
  if (method !== undefined) request[METHOD] = normalise(`${method}`);
  if (headers !== undefined && headers !== null) request[LIST] = listFrom(headers);
  if (redirect !== undefined || cf !== undefined) request[EXTRA] = { ...request[EXTRA] };
  if (redirect !== undefined) request[EXTRA].redirect = mode(`${redirect}`);
  if (cf !== undefined) request[EXTRA].cf = cf;
  if (cache !== undefined && cache !== "no-store" && cache !== "no-cache" && cache !== "default" && cache !== "reload") {
    throw new TypeError(`Unsupported cache mode: ${cache}`);
  }
  if (signal !== undefined) {
    if (signal !== null && !isSignal(signal)) throw new TypeError("Request constructor: the signal is not an AbortSignal");
    request[SIGNAL] = signal === null ? null : follow(signal);
  }
  const bodiless = request[METHOD] === "GET" || request[METHOD] === "HEAD";
  const given = body !== undefined && body !== null;
  if (bodiless && (given || (from !== null && body === undefined && hasBody(from)))) {
    throw new TypeError("Request with a GET or HEAD method cannot have a body.");
  }
  if (!given) return;
  const [source, type] = extract(body);
  initBody(request, source);
  if (type !== null && get(request[LIST], "content-type") === null) request[LIST].push("content-type", type);
}

// https://fetch.spec.whatwg.org/#concept-method-normalize
function normalise(method) {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError(`Invalid HTTP method string: ${method}`);
  const upper = method.toUpperCase();
  switch (upper) {
    case "DELETE": case "GET": case "HEAD": case "OPTIONS": case "POST": case "PUT": return upper;
    case "CONNECT": case "TRACE": case "TRACK": throw new TypeError(`Invalid HTTP method string: ${method}`);
    default: return method;
  }
}

function mode(redirect) {
  if (redirect === "follow" || redirect === "error" || redirect === "manual") return redirect;
  throw new TypeError(`Invalid redirect value: "${redirect}" is not "follow", "error" or "manual"`);
}

// The new request takes the body of the one it was made from, which is used then.
function takeOver(to, from) {
  if (unusable(from)) throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
  from[USED] = true;
  if (from[STREAM] === null) {
    to[SOURCE] = from[SOURCE];
    return;
  }
  // Somebody may hold the stream: it stays the old request's, locked from now on.
  to[STREAM] = through(from[STREAM]);
}

/** The Request of a visitor. handle is the body's, or -1 for none. */
export function incoming(method, url, list, handle) {
  const request = Object.create(Request.prototype);
  request[METHOD] = method;
  request[HREF] = url;
  request[LIST] = list;
  request[HEADERS] = request[SIGNAL] = null;
  request[EXTRA] = { redirect: "manual", cf: undefined, immutable: true, cancelled: false };
  initBody(request, handle < 0 ? null : new HostBody(handle, list));
  return request;
}

function clientGone() { return abortError("The client disconnected"); }

/** Tells a visitor's request that nobody waits for its answer. */
export function disconnect(request) {
  request[EXTRA].cancelled = true;
  if (request[SIGNAL] !== null) abort(request[SIGNAL], clientGone());
}

/** What fetch needs of a request. */
export function target(request) {
  return { method: request[METHOD], url: request[HREF], list: request[LIST], redirect: request[EXTRA].redirect, signal: request[SIGNAL] };
}

export function install() {
  include(Request, Body);
  define("Request", Request);
}
