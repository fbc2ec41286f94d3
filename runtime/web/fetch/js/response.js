// https://fetch.spec.whatwg.org/#response-class
import { host } from "../../webidl/js/host.js";
import { HostBody, TEXT_TYPE, extract, foreignBody, initBody, mixBody, teeBody, unusable } from "./body.js";
import { get, headersOver, listFrom } from "./headers.js";
import { remove } from "../../webidl/js/pairs.js";
import { define, guarded, need } from "../../webidl/js/idl.js";
import { inRequest, mark } from "../../iocontext/js/owner.js";
import { say } from "../../language/js/caution.js";
import { isSocket } from "./upgrade.js";

let stateOf;

/** Reports whether value is a Response. */
export let isResponse;

export class Response {
  // Besides the body's fields: status, text (of the status), headers (null, or
  // the Headers over list), extra (null, or fields that only some responses have: url,
  // type, redirected, immutable, manual, cf).
  #state;
  static {
    stateOf = guarded("Response", (response) => response.#state);
    isResponse = (value) => typeof value === "object" && value !== null && #state in value;
  }
  constructor(body = null, init = undefined) {
    const state = {
      status: 200,
      text: "",
      list: null,
      headers: null,
      extra: null,
      source: null,
      stream: null,
      used: false,
    };
    this.#state = state;
    const list = (state.list = init === undefined || init === null ? [] : apply(state, init));
    if (body === null || (body === "" && isNullStatus(state.status))) return; // the platform treats "" as no body here
    if (typeof body === "string") {
      // by far the most frequent, so without the detours below
      state.source = body.toWellFormed();
      state.made = mark();
      if (list.length === 0 || get(list, "content-type") === null) list.push("content-type", TEXT_TYPE);
    } else {
      const [source, type] = extract(body);
      initBody(state, source);
      if (type !== null && get(list, "content-type") === null) list.push("content-type", type);
    }
    if (state.status !== 200 && isNullStatus(state.status))
      throw new TypeError("Response with null body status (101, 204, 205, or 304) cannot have a body.");
  }
  get type() {
    return stateOf(this).extra?.type ?? "default";
  }
  get url() {
    return stateOf(this).extra?.url ?? "";
  }
  get redirected() {
    return stateOf(this).extra?.redirected ?? false;
  }
  get status() {
    return stateOf(this).status;
  }
  get ok() {
    const { status } = stateOf(this);
    return status >= 200 && status <= 299;
  }
  get statusText() {
    return stateOf(this).text;
  }
  get headers() {
    const state = stateOf(this);
    return (state.headers ??= headersOver(state.list, state.extra?.immutable ?? false));
  }
  clone() {
    const state = stateOf(this);
    if (state.extra?.webSocket) throw new TypeError("Cannot clone a response to a WebSocket handshake.");
    const error = foreignBody(state);
    if (error !== undefined) throw error;
    if (unusable(state)) throw new TypeError("Response.clone: the body has already been used or is locked");
    const response = new Response(),
      copy = stateOf(response);
    copy.status = state.status;
    copy.text = state.text;
    copy.list = state.list.slice();
    copy.extra = state.extra === null ? null : { ...state.extra };
    teeBody(state, copy);
    return response;
  }
  static error() {
    const response = new Response();
    response.#state.status = 0;
    response.#state.extra = { type: "error", immutable: true };
    return response;
  }
  static redirect(url, status = 302) {
    need(arguments.length, 1, "Response.redirect");
    inRequest();
    const href = host.url_href(`${url}`.toWellFormed());
    const code = unsignedShort(status);
    if (![301, 302, 303, 307, 308].includes(code))
      throw new RangeError(`Response.redirect: ${code} is not a redirect status (301, 302, 303, 307 or 308)`);
    const response = new Response(null, { status: code });
    response.#state.list.push("location", href);
    response.#state.extra = { immutable: true };
    return response;
  }
  static json(data, init = undefined) {
    need(arguments.length, 1, "Response.json");
    const text = JSON.stringify(data);
    if (text === undefined)
      say(
        "Response.json",
        "json",
        `writes "undefined" for a value that JSON does not have, such as this one: undefined, a function or a symbol`,
      );
    const response = new Response(`${text}`, init);
    const { list } = response.#state;
    if (get(list, "content-type") === TEXT_TYPE && !namesContentType(init)) list[list.length - 1] = "application/json";
    return response;
  }
}

function namesContentType(init) {
  return init?.headers !== undefined && init.headers !== null && get(listFrom(init.headers), "content-type") !== null;
}

// Reads a ResponseInit into the state and returns its header list.
function apply(state, init) {
  if (typeof init !== "object" && typeof init !== "function")
    throw new TypeError("Response constructor: the second argument is not an object");
  const { cf, encodeBody, headers, status, statusText, webSocket } = init;
  if (webSocket !== undefined && webSocket !== null) {
    if (!isSocket(webSocket)) throw new TypeError("Response constructor: the webSocket is not a WebSocket");
    if (status !== 101) throw new RangeError("Responses with a WebSocket must have status code 101.");
    state.status = 101;
    state.extra = { webSocket };
  } else if (status !== undefined && status !== 200) {
    const code = unsignedShort(status);
    if (code < 200 || code > 599)
      throw new RangeError(
        `Responses may only be constructed with status codes in the range 200 to 599, inclusive; got ${code}.`,
      );
    state.status = code;
  }
  if (statusText !== undefined) {
    const text = `${statusText}`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new TypeError(`Invalid statusText: ${JSON.stringify(text)}`);
    state.text = text;
  }
  if (encodeBody !== undefined && encodeBody !== "automatic" && encodeBody !== "manual") {
    throw new TypeError(`encodeBody is "${encodeBody}", not "automatic" or "manual"`);
  }
  // The platform also copies this property from another Response, although no member shows it.
  const manual = isResponse(init) ? stateOf(init).extra?.manual === true : encodeBody === "manual";
  if (manual || cf !== undefined) state.extra = { ...state.extra, manual, cf };
  return headers === undefined ? [] : listFrom(headers);
}

function unsignedShort(value) {
  const n = Math.trunc(+value);
  return Number.isFinite(n) ? ((n % 65536) + 65536) % 65536 : 0;
}

function isNullStatus(status) {
  return status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
}

/** The Response of a fetch. handle is the body's, or -1 for none; manual is true if the body is still encoded. */
export function fetched(status, statusText, list, handle, url, redirected, signal, manual) {
  const response = new Response(),
    state = stateOf(response);
  state.status = status;
  state.text = statusText;
  state.list = list;
  state.extra = { url, redirected, type: "basic", immutable: true, manual };
  if (handle >= 0) state.source = new HostBody(handle, list, signal);
  return response;
}

/** Makes response one that was fetched within this process, from url. */
export function answered(response, url, redirected) {
  const state = stateOf(response);
  state.extra = { ...state.extra, url, redirected, immutable: true };
  return response;
}

/** A Response to the handshake of a connection. */
export function upgraded(status, statusText, list, webSocket, url) {
  const response = new Response(),
    state = stateOf(response);
  state.status = status;
  state.text = statusText;
  state.list = list;
  state.extra = { url, immutable: true, webSocket };
  return response;
}

/** A Response from a cache. handle is the body's, or -1 for none. */
export function kept(status, list, handle) {
  const response = new Response(),
    state = stateOf(response);
  state.status = status;
  state.text = TEXTS[status] ?? "";
  state.list = list;
  state.extra = { immutable: true };
  if (handle >= 0) state.source = new HostBody(handle, list);
  return response;
}

const TEXTS = {
  200: "OK",
  203: "Non-Authoritative Information",
  206: "Partial Content",
  300: "Multiple Choices",
  301: "Moved Permanently",
  302: "Found",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  404: "Not Found",
  405: "Method Not Allowed",
  410: "Gone",
  414: "URI Too Long",
  416: "Range Not Satisfiable",
  501: "Not Implemented",
};

/** A Response like another one, with a stream for a body, of the same length or of an unknown one. */
export function rebodied(response, stream, sameLength) {
  const made = new Response(),
    from = stateOf(response),
    state = stateOf(made);
  state.status = from.status;
  state.text = from.text;
  state.list = from.list.slice();
  if (!sameLength) remove(state.list, "content-length");
  state.extra = from.extra === null ? null : { ...from.extra, immutable: false };
  state.stream = stream;
  return made;
}

/** The state of a response, for the host's respond. */
export function head(response) {
  return stateOf(response);
}

export function install() {
  mixBody(Response, stateOf);
  Object.defineProperty(Response.prototype, "cf", {
    get() {
      return stateOf(this).extra?.cf;
    },
    configurable: true,
  });
  Object.defineProperty(Response.prototype, "webSocket", {
    get() {
      return stateOf(this).extra?.webSocket ?? null;
    },
    configurable: true,
  });
  define("Response", Response);
}
