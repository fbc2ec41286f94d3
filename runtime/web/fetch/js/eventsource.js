// https://html.spec.whatwg.org/#server-sent-events
import { host } from "../../webidl/js/host.js";
import { TextDecoder } from "../../textcodec/js/encoding.js";
import { Event, EventTarget, fire, handlerAttribute } from "../../events/js/event.js";
import { MessageEvent } from "../../events/js/events.js";
import { define, guarded } from "../../webidl/js/idl.js";
import { inRequest } from "../../iocontext/js/owner.js";
import { isStream } from "../../streams/js/streams.js";

const CONNECTING = 0,
  OPEN = 1,
  CLOSED = 2;
const RECONNECT = 3000; // milliseconds
const MAX_LINE = 16 << 20; // characters that one event may hold

const token = {};
let fetch, setTimeout; // the originals, before the Worker could replace them

let stateOf;

export class EventSource extends EventTarget {
  #state;
  static {
    stateOf = guarded("EventSource", (source) => source.#state);
  }
  constructor(url, init = undefined) {
    super();
    const state = (this.#state = {
      source: this,
      url: "",
      ready: CONNECTING,
      credentials: false,
      origin: "",
      last: "",
      delay: RECONNECT,
      controller: new AbortController(),
      fetcher: null,
    });
    if (url === token) return;
    inRequest();
    if (arguments.length === 0)
      throw new TypeError("Failed to construct 'EventSource': constructor parameter 1 is not of type 'string'.");
    try {
      state.url = host.url_href(`${url}`.toWellFormed());
    } catch {
      throw new DOMException(`Cannot open an EventSource to '${url}'. The URL is invalid.`, "SyntaxError");
    }
    state.credentials = !!init?.withCredentials;
    state.fetcher = init?.fetcher ?? null;
    queueMicrotask(() => {
      connect(state);
    });
  }
  get url() {
    return stateOf(this).url;
  }
  get withCredentials() {
    return stateOf(this).credentials;
  }
  get readyState() {
    return stateOf(this).ready;
  }
  close() {
    const state = stateOf(this);
    state.ready = CLOSED;
    state.controller.abort();
  }
  [Symbol.dispose]() {
    this.close();
  }
  static from(stream) {
    if (!isStream(stream))
      throw new TypeError("Failed to execute 'from' on 'EventSource': parameter 1 is not of type 'ReadableStream'.");
    const source = new EventSource(token),
      state = stateOf(source);
    queueMicrotask(() => {
      if (state.ready === CLOSED) return;
      opened(state, "");
      read(state, stream)
        .catch(() => {})
        .then(() => {
          fail(state);
        });
    });
    return source;
  }
}

async function connect(state) {
  if (state.ready === CLOSED) return;
  const headers = { accept: "text/event-stream", "cache-control": "no-cache" };
  if (state.last !== "") headers["last-event-id"] = state.last;
  let response;
  try {
    const init = { headers, signal: state.controller.signal };
    response = await (state.fetcher === null ? fetch(state.url, init) : state.fetcher.fetch(state.url, init));
  } catch {
    return again(state);
  }
  const type = response.headers.get("content-type") ?? "";
  if (response.status !== 200 || !/^\s*text\/event-stream\s*(;|$)/i.test(type)) {
    response.body?.cancel().catch(() => {});
    return fail(state);
  }
  if (state.ready === CLOSED) return;
  opened(state, new URL(response.url || state.url).origin);
  await read(state, response.body).catch(() => {});
  again(state);
}

function opened(state, origin) {
  state.origin = origin;
  state.ready = OPEN;
  fire(state.source, new Event("open"));
}

function fail(state) {
  if (state.ready === CLOSED) return;
  state.ready = CLOSED;
  fire(state.source, new Event("error"));
}

function again(state) {
  if (state.ready === CLOSED) return;
  state.ready = CONNECTING;
  fire(state.source, new Event("error"));
  if (state.ready === CONNECTING)
    setTimeout(() => {
      connect(state);
    }, state.delay);
}

// https://html.spec.whatwg.org/#event-stream-interpretation
async function read(state, stream) {
  if (stream === null) return;
  const reader = stream.getReader(),
    decoder = new TextDecoder();
  const event = { data: "", type: "", id: state.last };
  let rest = "",
    skip = false; // skip: a line feed that belongs to the carriage return before it
  for (;;) {
    const { done, value } = await reader.read();
    if (done || state.ready === CLOSED) return reader.cancel();
    let text = decoder.decode(value, { stream: true });
    if (text === "") continue;
    if (skip && text.startsWith("\n")) text = text.slice(1);
    skip = text.endsWith("\r");
    const lines = (rest + text).split(/\r\n|\n|\r/);
    rest = lines.pop();
    if (rest.length + event.data.length > MAX_LINE)
      throw new RangeError("EventSource: an event is larger than 16 Mi characters");
    for (const line of lines) {
      interpret(state, event, line);
      if (state.ready === CLOSED) return reader.cancel();
    }
  }
}

function interpret(state, event, line) {
  if (line === "") return dispatch(state, event);
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const field = colon < 0 ? line : line.slice(0, colon);
  let value = colon < 0 ? "" : line.slice(colon + 1);
  if (value.startsWith(" ")) value = value.slice(1);
  switch (field) {
    case "event":
      event.type = value;
      break;
    case "data":
      event.data += `${value}\n`;
      break;
    case "id":
      if (!value.includes("\0")) event.id = value;
      break;
    case "retry":
      if (/^\d+$/.test(value)) state.delay = Number(value);
      break;
    default:
  }
}

function dispatch(state, event) {
  state.last = event.id;
  const { data, type } = event;
  event.data = event.type = "";
  if (data === "") return;
  fire(
    state.source,
    new MessageEvent(type || "message", { data: data.slice(0, -1), origin: state.origin, lastEventId: state.last }),
  );
}

export function install() {
  ({ fetch, setTimeout } = globalThis);
  for (const type of ["open", "message", "error"]) handlerAttribute(EventSource, type);
  for (const [at, name] of ["CONNECTING", "OPEN", "CLOSED"].entries()) {
    const constant = { value: at, enumerable: true };
    Object.defineProperty(EventSource, name, constant);
    Object.defineProperty(EventSource.prototype, name, constant);
  }
  define("EventSource", EventSource);
}
