// https://fetch.spec.whatwg.org/#request-class
import { host } from "./host.js";
import { AbortSignal, abort, abortError, follow, isSignal, newSignal } from "./abort.js";
import { HostBody, extract, foreignBody, hasBody, initBody, mixBody, teeBody, unusable } from "./body.js";
import { get, headersOver, listFrom } from "./headers.js";
import { define, guarded, need } from "./idl.js";
import { through } from "./streams.js";

const token = {};

// What fills the cf of a visitor's request when somebody asks for it.
const VISITOR = {};

let stateOf;

/** Reports whether value is a Request. */
export let isRequest;

export class Request {
  // Besides the body's fields: method, url, headers (null, or the Headers over
  // list), signal (null until somebody asks), redirect, cf, immutable, cancelled.
  #state;
  static {
    stateOf = guarded("Request", (request) => request.#state);
    isRequest = (value) => typeof value === "object" && value !== null && #state in value;
  }
  constructor(input, init) {
    if (input === token) {
      this.#state = init;
      return;
    }
    need(arguments.length, 1, "Request constructor");
    if (init !== undefined && init !== null && typeof init !== "object" && typeof init !== "function") {
      throw new TypeError("Request constructor: the second argument is not an object");
    }
    const from = isRequest(input) ? stateOf(input) : null;
    const state = (this.#state = from === null ? blank("GET", parse(input), []) : copyOf(from));
    if (init !== undefined && init !== null) apply(state, init, from);
    if (from !== null && hasBody(from) && !hasBody(state) && !(init?.body !== undefined && init?.body !== null)) {
      takeOver(state, from);
    }
  }
  get method() { return stateOf(this).method; }
  get url() { return stateOf(this).url; }
  get headers() {
    const state = stateOf(this);
    return (state.headers ??= headersOver(state.list, state.immutable));
  }
  get redirect() { return stateOf(this).redirect; }
  get signal() { return signalOf(stateOf(this)); }
  get cf() {
    const state = stateOf(this);
    if (state.cf === VISITOR) state.cf = visitorCf();
    return state.cf;
  }
  get integrity() { stateOf(this); return ""; }
  get keepalive() { stateOf(this); return false; }
  clone() {
    const state = stateOf(this);
    const error = foreignBody(state);
    if (error !== undefined) throw error;
    if (unusable(state)) throw new TypeError("Request.clone: the body has already been used or is locked");
    const copy = copyOf(state);
    copy.immutable = state.immutable;
    teeBody(state, copy);
    return new Request(token, copy);
  }
}

function blank(method, url, list) {
  return {
    method, url, list, headers: null, signal: null, redirect: "follow", cf: undefined, immutable: false, cancelled: false,
    source: null, stream: null, used: false,
  };
}

// The state of a request made from another one, without its body.
function copyOf(from) {
  const state = blank(from.method, from.url, from.list.slice());
  state.redirect = from.redirect;
  state.cf = from.cf;
  state.signal = follow(signalOf(from));
  return state;
}

function signalOf(state) { return (state.signal ??= state.cancelled ? AbortSignal.abort(clientGone()) : newSignal()); }

function parse(input) {
  const href = host.url_href(`${input}`.toWellFormed());
  if (/^[^/]*\/\/[^/?#]*@/.test(href)) throw new TypeError(`Request constructor: the URL ${JSON.stringify(href)} holds a user name or password; send them in the Authorization header`);
  return href;
}

function apply(request, init, from) {
  const { method, headers, body, redirect, signal, cf, cache } = init;
  if (method !== undefined) request.method = normalise(`${method}`);
  if (headers !== undefined && headers !== null) request.list = listFrom(headers);
  if (redirect !== undefined) request.redirect = mode(`${redirect}`);
  if (cf !== undefined) request.cf = cf;
  if (cache !== undefined && cache !== "no-store" && cache !== "no-cache" && cache !== "default" && cache !== "reload") {
    throw new TypeError(`Unsupported cache mode: ${cache}`);
  }
  if (signal !== undefined) {
    if (signal !== null && !isSignal(signal)) throw new TypeError("Request constructor: the signal is not an AbortSignal");
    request.signal = signal === null ? null : follow(signal);
  }
  const bodiless = request.method === "GET" || request.method === "HEAD";
  const given = body !== undefined && body !== null;
  if (bodiless && (given || (from !== null && body === undefined && hasBody(from)))) {
    throw new TypeError("Request with a GET or HEAD method cannot have a body.");
  }
  if (!given) return;
  const [source, type] = extract(body);
  initBody(request, source);
  if (type !== null && get(request.list, "content-type") === null) request.list.push("content-type", type);
}

// https://fetch.spec.whatwg.org/#concept-method-normalize
function normalise(method) {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError(`Invalid HTTP method string: ${method}`);
  const upper = method.toUpperCase();
  switch (upper) {
    case "DELETE": case "GET": case "HEAD": case "OPTIONS": case "POST": case "PUT": return upper;
    case "PATCH": return upper; // as the platform; the standard keeps its case, which servers then refuse
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
  from.used = true;
  if (from.stream === null) to.source = from.source;
  // Somebody may hold the stream: it stays the old request's, locked from now on.
  else to.stream = through(from.stream);
}

/** The Request of a visitor. handle is the body's, or -1 for none. */
export function incoming(method, url, list, handle) {
  const state = blank(method, url, list);
  state.redirect = "manual";
  state.cf = VISITOR;
  state.immutable = true;
  if (handle >= 0) state.source = new HostBody(handle, list);
  return new Request(token, state);
}

// The same for everybody: on one machine nobody comes from anywhere.
function visitorCf() {
  return Object.freeze({
    asOrganization: "Example Network", asn: 64496, colo: "SFO", continent: "NA", country: "US", region: "California", regionCode: "CA",
    city: "San Francisco", postalCode: "94107", latitude: "37.77490", longitude: "-122.41940", timezone: "America/Los_Angeles",
    httpProtocol: "HTTP/1.1", tlsVersion: "TLSv1.3", tlsCipher: "AEAD-AES128-GCM-SHA256", clientTcpRtt: 1,
  });
}

function clientGone() { return abortError("The client disconnected"); }

/** Tells a visitor's request that nobody waits for its answer. */
export function disconnect(request) {
  const state = stateOf(request);
  state.cancelled = true;
  if (state.signal !== null) abort(state.signal, clientGone());
}

/** The state of a request: what fetch needs of it. */
export function target(request) { return stateOf(request); }

export function install() {
  mixBody(Request, stateOf);
  define("Request", Request);
}
