// https://fetch.spec.whatwg.org/#request-class
import { host } from "../../webidl/js/host.js";
import { AbortSignal, abort, abortError, follow, isSignal, newSignal } from "../../events/js/abort.js";
import { HostBody, extract, foreignBody, hasBody, initBody, mixBody, teeBody, unusable } from "./body.js";
import { caution } from "../../language/js/caution.js";
import { get, headersOver, listFrom } from "./headers.js";
import { define, guarded, need } from "../../webidl/js/idl.js";
import { through } from "../../streams/js/streams.js";

const token = {};

// Marks a visitor's request, whose cf is filled at its first read.
const VISITOR = {};

let stateOf;

/** Reports whether value is a Request. */
export let isRequest;

export class Request {
  // Besides the body's fields: method, url, headers (null, or the Headers over list), signal (null
  // until its first read), redirect, cf, immutable, cancelled, asked (null, or those of ASKED that
  // an init gave), manual (whether its own init wants the response's body encoded; a copy of the
  // request does not).
  #state;
  static {
    stateOf = guarded("Request", (request) => request.#state);
    isRequest = (value) => typeof value === "object" && value !== null && #state in value;
  }
  constructor(input, init = undefined) {
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
    // A body of null is none, as on the platform; the standard keeps the other request's.
    if (from !== null && hasBody(from) && !hasBody(state) && init?.body === undefined) {
      takeOver(state, from);
    }
  }
  get method() {
    return stateOf(this).method;
  }
  get url() {
    return stateOf(this).url;
  }
  get headers() {
    const state = stateOf(this);
    return (state.headers ??= headersOver(state.list, state.immutable));
  }
  get redirect() {
    return stateOf(this).redirect;
  }
  get signal() {
    return signalOf(stateOf(this));
  }
  get cf() {
    const state = stateOf(this);
    if (state.cf === VISITOR) state.cf = visitorCf();
    return state.cf;
  }
  get destination() {
    return stateOf(this) && "";
  }
  get referrer() {
    return asked(this, "referrer");
  }
  get referrerPolicy() {
    return asked(this, "referrerPolicy");
  }
  get mode() {
    return asked(this, "mode");
  }
  get credentials() {
    return asked(this, "credentials");
  }
  get cache() {
    return asked(this, "cache");
  }
  get integrity() {
    return asked(this, "integrity");
  }
  get keepalive() {
    return asked(this, "keepalive");
  }
  get isReloadNavigation() {
    return stateOf(this) === null;
  }
  get isHistoryNavigation() {
    return stateOf(this) === null;
  }
  get duplex() {
    return stateOf(this) && "half";
  }
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

// Defaults of a request's attributes that are not sent. There is no page: a referrer is the Worker itself or none, and mode and
// credentials do not change the sent request.
const ASKED = {
  cache: "default",
  credentials: "same-origin",
  integrity: "",
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};

function asked(request, name) {
  return (stateOf(request).asked ?? ASKED)[name];
}

function blank(method, url, list) {
  return {
    method,
    url,
    list,
    headers: null,
    signal: null,
    redirect: "follow",
    cf: undefined,
    immutable: false,
    cancelled: false,
    asked: null,
    manual: false,
    source: null,
    stream: null,
    used: false,
  };
}

// The state of a request made from another one, without its body.
function copyOf(from) {
  const state = blank(from.method, from.url, from.list.slice());
  state.redirect = from.redirect;
  state.cf = from.cf;
  state.asked = from.asked;
  state.signal = follow(signalOf(from));
  return state;
}

function signalOf(state) {
  return (state.signal ??= state.cancelled ? AbortSignal.abort(clientGone()) : newSignal());
}

function parse(input) {
  const href = host.url_href(`${input}`.toWellFormed());
  if (/^[^/]*\/\/[^/?#]*@/.test(href))
    throw new TypeError(
      `Request constructor: the URL ${JSON.stringify(href)} holds a user name or password; send them in the Authorization header`,
    );
  return href;
}

const POLICIES = [
  "",
  "no-referrer",
  "no-referrer-when-downgrade",
  "same-origin",
  "origin",
  "strict-origin",
  "origin-when-cross-origin",
  "strict-origin-when-cross-origin",
  "unsafe-url",
];

// The values that a member of RequestInit may have.
const CHOICES = {
  cache: ["default", "no-store", "reload", "no-cache"], // production refuses force-cache and only-if-cached
  credentials: ["omit", "same-origin", "include"],
  duplex: ["half"],
  mode: ["cors", "same-origin", "no-cors", "navigate"],
  priority: ["high", "low", "auto"],
  redirect: ["follow", "error", "manual"],
  referrerPolicy: POLICIES,
};

function choose(member, value) {
  const text = `${value}`,
    choices = CHOICES[member];
  if (choices.includes(text)) return text;
  if (member === "cache") throw new TypeError(`Unsupported cache mode: ${text}`);
  const quoted = choices.filter((choice) => choice !== "").map((choice) => `"${choice}"`),
    last = quoted.pop();
  throw new TypeError(
    `Invalid ${member} value: "${text}" is not ${quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`}`,
  );
}

function apply(request, init, from) {
  const {
    body,
    cache,
    cf,
    credentials,
    duplex,
    encodeResponseBody,
    headers,
    integrity,
    keepalive,
    method,
    mode,
    priority,
    redirect,
    referrer,
    referrerPolicy,
    signal,
    window,
  } = init; // in the order in which Web IDL reads a dictionary
  const ask = (name, value) => {
    const known = request.asked ?? ASKED;
    if (known[name] !== value) request.asked = { ...known, [name]: value };
  };
  if (window !== undefined && window !== null) throw new TypeError("Request constructor: the window can only be null");
  if (cache !== undefined) {
    ask("cache", choose("cache", cache));
    const chosen = cache !== "default" || !isRequest(init); // new Request(url, request) does not choose a mode
    if (chosen && cache !== "no-store" && cache !== "no-cache")
      caution("Request", "cache", `cache: "${cache}"; leave it out`);
  }
  if (credentials !== undefined) ask("credentials", choose("credentials", credentials));
  if (duplex !== undefined) choose("duplex", duplex);
  if (encodeResponseBody !== undefined) {
    if (encodeResponseBody !== "automatic" && encodeResponseBody !== "manual")
      throw new TypeError(`encodeResponseBody: unexpected value: ${encodeResponseBody}`);
    request.manual = encodeResponseBody === "manual";
  }
  if (integrity !== undefined) {
    ask("integrity", `${integrity}`);
    if (request.asked?.integrity) caution("Request", "integrity", "integrity; compare the body's digest instead");
  }
  if (keepalive !== undefined) ask("keepalive", !!keepalive);
  if (method !== undefined) request.method = normalise(`${method}`);
  if (mode !== undefined) ask("mode", choose("mode", mode));
  if (mode === "navigate") throw new TypeError('Request constructor: the mode of a request cannot be "navigate"');
  if (priority !== undefined) choose("priority", priority);
  if (redirect !== undefined) request.redirect = choose("redirect", redirect);
  if (request.redirect === "error")
    caution("Request", "redirect", 'redirect: "error"; write "manual" and look at the status');
  if (referrer !== undefined) ask("referrer", referrerOf(`${referrer}`));
  if (referrerPolicy !== undefined) ask("referrerPolicy", choose("referrerPolicy", referrerPolicy));
  if (headers !== undefined) request.list = listFrom(headers);
  if (cf !== undefined) request.cf = cf;
  if (signal !== undefined) {
    if (signal !== null && !isSignal(signal))
      throw new TypeError("Request constructor: the signal is not an AbortSignal");
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

// Methods that production accepts besides those of the standard.
const METHODS = new Set([
  "ACL",
  "BAN",
  "CHECKOUT",
  "COPY",
  "LOCK",
  "MERGE",
  "MKACTIVITY",
  "MKCOL",
  "MOVE",
  "NOTIFY",
  "PROPFIND",
  "PROPPATCH",
  "PURGE",
  "QUERY",
  "REPORT",
  "SEARCH",
  "SUBSCRIBE",
  "UNLOCK",
  "UNSUBSCRIBE",
]);

// https://fetch.spec.whatwg.org/#concept-method-normalize
function normalise(method) {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError(`Invalid HTTP method string: ${method}`);
  const upper = method.toUpperCase();
  switch (upper) {
    case "DELETE":
    case "GET":
    case "HEAD":
    case "OPTIONS":
    case "POST":
    case "PUT":
      return upper;
    case "PATCH":
      return upper; // as the platform; the standard keeps its case, which servers then refuse
    case "CONNECT":
    case "TRACE":
    case "TRACK":
      throw new TypeError(`Invalid HTTP method string: ${method}`);
    default:
      if (!METHODS.has(method)) caution("Request", "method", `the method ${method}`);
      return method;
  }
}

// The Worker's origin is opaque: for any other origin, the client replaces it.
function referrerOf(referrer) {
  if (referrer === "") return "";
  host.url_href(referrer.toWellFormed()); // throws the error of a malformed URL
  return "about:client";
}

// The new request takes the body of the one it was made from, which is used then.
function takeOver(to, from) {
  if (unusable(from))
    throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
  from.used = true;
  if (from.stream === null) to.source = from.source;
  // The author's code may hold the stream: it stays the old request's, locked from now on.
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

// The same for every request: on one machine a client has no place.
function visitorCf() {
  return Object.freeze({
    asOrganization: "Example Network",
    asn: 64496,
    colo: "SFO",
    continent: "NA",
    country: "US",
    region: "California",
    regionCode: "CA",
    city: "San Francisco",
    postalCode: "94107",
    latitude: "37.77490",
    longitude: "-122.41940",
    timezone: "America/Los_Angeles",
    httpProtocol: "HTTP/1.1",
    tlsVersion: "TLSv1.3",
    tlsCipher: "AEAD-AES128-GCM-SHA256",
    clientTcpRtt: 1,
  });
}

/** The reason of everything that ends because the client has gone. */
export function clientGone() {
  return abortError("The client disconnected");
}

/** Aborts the signal of a visitor's request whose client has gone. */
export function disconnect(request) {
  const state = stateOf(request);
  state.cancelled = true;
  if (state.signal !== null) abort(state.signal, clientGone());
}

/** Reports whether a visitor's request has lost its client. */
export function hasGone(request) {
  return stateOf(request).cancelled;
}

/** The state of a request, for fetch. */
export function target(request) {
  return stateOf(request);
}

export function install() {
  mixBody(Request, stateOf);
  define("Request", Request);
}
