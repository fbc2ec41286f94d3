// https://websockets.spec.whatwg.org/ and Workers' WebSocketPair. An end sends to
// its peer: the other end of a pair, or a connection of Go's.
import { host } from "../../webidl/js/host.js";
import { blobBytes, blobOf, isBlob } from "../../formdata/js/blob.js";
import { cloneWith } from "../../messaging/js/clone.js";
import { bytesOf, encode } from "../../textcodec/js/encoding.js";
import { say } from "../../language/js/caution.js";
import { Event, EventTarget, fire, handlerAttribute } from "../../events/js/event.js";
import { CloseEvent, ErrorEvent, MessageEvent } from "../../events/js/events.js";
import { define, guarded, need } from "../../webidl/js/idl.js";
import { foreignError, inRequest } from "../../iocontext/js/owner.js";
import { describe, report } from "../../console/js/report.js";
import { provideSockets } from "../../fetch/js/upgrade.js";
import { task } from "../../timers/js/timers.js";

const CONNECTING = 0,
  OPEN = 1,
  CLOSING = 2,
  CLOSED = 3;
const TEXT = 0,
  BINARY = 1,
  CLOSE = 2; // as in Go
const NO_STATUS = 1005,
  ABNORMAL = 1006;
const VANISHED = "WebSocket disconnected without sending Close frame.";
const MAX_ATTACHMENT = 16384,
  MAX_REASON = 123;

const token = {};
const { queueMicrotask } = globalThis;

/** The sockets of connections in Go, by handle. */
const ends = new Map();

let stateOf, isSocket;

export { isSocket };

// The state of a socket:
//   socket      the object
//   peer        the other end; null until it is connected
//   ready       readyState
//   accepted    whether messages are delivered; until then they wait in queue
//   closed      whether it has sent its close
//   ended       whether its peer has sent its close
//   coupled     whether it was passed in a Response
//   sent        bytes that waited to go out when the code now running first sent, and
//               the bytes sent since; null when it has sent nothing
//   late        bytes that were sent after the close, and so never go out
//   half        whether its peer's close leaves it open for sending
//   owner       the request that made it
export class WebSocket extends EventTarget {
  #state;
  static {
    stateOf = guarded("WebSocket", (socket) => socket.#state);
    isSocket = (value) => typeof value === "object" && value !== null && #state in value;
  }
  constructor(url, protocols = undefined) {
    if (url === token) {
      super();
      this.#state = endOf(this, OPEN, null);
      return;
    }
    if (arguments.length === 0)
      throw new TypeError("Failed to construct 'WebSocket': constructor parameter 1 is not of type 'string'.");
    inRequest();
    const href = target(`${url}`.toWellFormed()),
      list = protocolsOf(protocols);
    super();
    const state = (this.#state = endOf(this, CONNECTING, href));
    state.accepted = true; // a client waits for no accept()
    connect(state, href, list);
  }
  get readyState() {
    return stateOf(this).ready;
  }
  get url() {
    return stateOf(this).url;
  }
  get protocol() {
    return stateOf(this).protocol;
  }
  get extensions() {
    return stateOf(this).extensions;
  }
  get bufferedAmount() {
    const state = stateOf(this);
    return (state.sent ?? state.peer?.unsent?.() ?? 0) + state.late;
  }
  get binaryType() {
    return stateOf(this).binaryType;
  }
  set binaryType(value) {
    const state = stateOf(this);
    if (`${value}` === "blob" || `${value}` === "arraybuffer") state.binaryType = `${value}`;
  }
  accept(options = undefined) {
    const state = stateOf(this);
    owned(state);
    if (state.coupled) throw new TypeError("Can't accept() WebSocket that was already used in a response.");
    if (state.accepted) return;
    state.accepted = true;
    state.half = Boolean(options?.allowHalfOpen);
    state.peer?.accept?.();
    for (const event of state.queue.splice(0))
      task(() => {
        take(state, event);
      });
  }
  send(message) {
    const state = stateOf(this);
    if (arguments.length === 0)
      throw new TypeError(
        "Failed to execute 'send' on 'WebSocket': parameter 1 is not of type 'ArrayBuffer or ArrayBufferView or string'.",
      );
    if (state.ready === CONNECTING) throw new DOMException("The WebSocket is not open yet.", "InvalidStateError");
    usable(state);
    if (isBlob(message))
      say("WebSocket", "blob", 'sends the text "[object Blob]" in place of a Blob; send await blob.arrayBuffer()');
    if (state.closed && state.url !== null) {
      // as in the standard for clients
      state.late += (isBlob(message) ? blobBytes(message) : (bytesOf(message) ?? encode(`${message}`))).byteLength;
      return;
    }
    if (state.closed) {
      throw new TypeError("Can't call WebSocket send() after close().");
    }
    const { peer } = state;
    if (state.sent === null && peer?.unsent !== undefined) {
      state.sent = peer.unsent();
      queueMicrotask(() => {
        state.sent = null;
      });
    }
    const bytes = isBlob(message) ? blobBytes(message) : bytesOf(message);
    const size =
      bytes === undefined ? peer?.send(TEXT, `${message}`.toWellFormed()) : peer?.send(BINARY, bytes.slice());
    if (state.sent !== null) state.sent += size;
  }
  close(code = undefined, reason = undefined) {
    const state = stateOf(this);
    const status = closing(code, reason),
      text = reason === undefined ? "" : `${reason}`.toWellFormed();
    if (state.ready === CONNECTING) {
      state.closed = true;
      state.ready = CLOSING;
      return;
    }
    usable(state);
    if (state.closed) return;
    state.closed = true;
    if (state.ready === OPEN) state.ready = CLOSING;
    state.peer?.close(status, text);
    if (state.ended) end(state);
  }
  serializeAttachment(value) {
    need(arguments.length, 1, "WebSocket.serializeAttachment");
    const state = stateOf(this),
      [copy] = cloneWith(value, []);
    const size = sizeOf(copy);
    if (size > MAX_ATTACHMENT)
      throw new Error(
        `A WebSocket 'attachment' cannot be larger than ${MAX_ATTACHMENT} bytes.'attachment' was ${size} bytes.`,
      );
    state.attachment = copy;
  }
  deserializeAttachment() {
    const { attachment } = stateOf(this);
    return attachment === null ? null : cloneWith(attachment, [])[0];
  }
}

function endOf(socket, ready, url) {
  return {
    socket,
    ready,
    url,
    peer: null,
    accepted: false,
    closed: false,
    ended: false,
    coupled: false,
    half: false,
    owner: host.current(),
    queue: [],
    protocol: "",
    extensions: "",
    binaryType: "blob",
    attachment: null,
    release: null,
    sent: null,
    late: 0,
  };
}

function owned(state) {
  if (state.owner !== host.current()) throw foreignError();
}

function usable(state) {
  owned(state);
  if (state.coupled) throw new TypeError("Can't use a WebSocket that was given away in a Response.");
  if (!state.accepted)
    throw new TypeError(
      "You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages.",
    );
}

// The approximate size of an attachment.
function sizeOf(value) {
  const text = JSON.stringify(value, (_, item) =>
    item instanceof Map || item instanceof Set
      ? [...item]
      : typeof item === "bigint"
        ? `${item}`
        : ArrayBuffer.isView(item) || item instanceof ArrayBuffer
          ? "x".repeat(item.byteLength)
          : item,
  );
  return text === undefined ? 0 : encode(text).byteLength;
}

// https://websockets.spec.whatwg.org/#dom-websocket-close with the codes that Workers may use.
function closing(code, reason) {
  if (code === undefined) {
    if (reason !== undefined)
      throw new DOMException(
        "If you specify a WebSocket close reason, you must also specify a code.",
        "InvalidAccessError",
      );
    return NO_STATUS;
  }
  const status = Math.trunc(+code) || 0;
  if (status < 1000 || status > 4999 || status === 1004 || status === 1005 || status === 1006 || status === 1015) {
    throw new DOMException(`Invalid WebSocket close code: ${status}.`, "InvalidAccessError");
  }
  if (reason !== undefined && encode(`${reason}`).byteLength > MAX_REASON) {
    throw new DOMException(
      `WebSocket close reason must not be longer than ${MAX_REASON} bytes when UTF-8 encoded.`,
      "SyntaxError",
    );
  }
  return status;
}

// An event arrives at a socket: [kind, data] or [CLOSE, code, reason, clean].
function receive(state, event) {
  if (state.accepted) take(state, event);
  else state.queue.push(event);
}

function take(state, [kind, data, reason, clean]) {
  if (state.ready === CLOSED) return;
  if (kind !== CLOSE) {
    if (state.ready === OPEN || state.ready === CLOSING) deliver(state, kind === TEXT ? data : binary(state, data));
    return;
  }
  if (!state.closed && state.half && clean) {
    state.ready = CLOSING; // until the Worker closes its own half
    state.ended = true;
  } else {
    if (!state.closed) {
      state.closed = true;
      state.peer?.close(data, reason); // as a browser answers
    }
    end(state);
  }
  if (!clean)
    fire(
      state.socket,
      new ErrorEvent("error", {
        message: "Uncaught Error: Network connection lost.",
        error: new Error("Network connection lost."),
      }),
    );
  fire(state.socket, new CloseEvent("close", { code: data, reason, wasClean: clean }));
}

// An exception of a listener ends its connection, as on the platform.
function deliver(state, data) {
  const thrown = [];
  fire(state.socket, new MessageEvent("message", { data }), (error) => {
    report(error);
    thrown.push(error);
  });
  if (thrown.length === 0 || state.ready === CLOSED) return;
  const [error] = thrown,
    { peer } = state,
    { name, message } = describe(error);
  state.closed = true;
  end(state);
  fire(
    state.socket,
    new ErrorEvent("error", { message: `Uncaught ${name === "" ? message : `${name}: ${message}`}`, error }),
  );
  peer?.fail();
}

function end(state) {
  state.ready = CLOSED;
  state.peer = null;
}

function binary(state, bytes) {
  return state.binaryType === "blob" ? blobOf(bytes) : bytes.buffer;
}

// The other end of a pair. One that is not accepted yet queues its events: a Response may take it
// together with them.
function localPeer(to) {
  const give = (event) => {
    if (to.accepted)
      task(() => {
        take(to, event);
      });
    else to.queue.push(event);
  };
  return {
    send(kind, data) {
      give([kind, data]);
    },
    close(code, reason) {
      give([CLOSE, code, reason, true]);
    },
    fail() {
      give([CLOSE, ABNORMAL, VANISHED, false]);
    },
  };
}

function hostPeer(handle) {
  return {
    send(kind, data) {
      return host.socket_send(handle, data);
    },
    unsent() {
      return host.socket_unsent(handle);
    },
    accept() {
      host.socket_accept(handle);
    },
    close(code, reason) {
      host.socket_close(handle, code, reason);
    },
    fail() {
      host.socket_close(handle, ABNORMAL, "");
    },
  };
}

/** An event of a connection: a message, or its end. */
export function socket(handle, kind, data, reason, clean) {
  const state = ends.get(handle);
  if (state === undefined) return;
  if (kind === CLOSE) ends.delete(handle);
  state.receive(kind === CLOSE ? [CLOSE, data, reason, clean] : [kind, data]);
  if (kind === CLOSE) state.release?.();
}

/**
 * Connects a visitor to the socket that was passed in a Response;
 * release is called at its end.
 */
export function couple(given, handle, release) {
  const state = stateOf(given);
  state.coupled = true;
  const { peer, queue } = state;
  const visitor = hostPeer(handle);
  const forward = ([kind, data, reason]) => {
    if (kind !== CLOSE) visitor.send(kind, data);
    else if (data === ABNORMAL) visitor.fail();
    else visitor.close(data, reason);
  };
  if (state.link !== undefined) {
    // a connection that the Worker opened: through and through
    for (const event of queue.splice(0)) forward(event);
    host.socket_join(state.link, handle);
    ends.set(state.link, { receive: forward, release: null });
    ends.set(handle, {
      receive: ([kind, data, reason]) => {
        if (kind !== CLOSE) peer.send(kind, data);
        else if (data === ABNORMAL) peer.fail();
        else peer.close(data, reason);
      },
      release,
    });
    return;
  }
  const other = state.other;
  other.peer = visitor;
  for (const event of queue.splice(0)) forward(event);
  ends.set(handle, { receive: (event) => receive(other, event), release });
  if (other.accepted) visitor.accept();
}

/** The reason why an end cannot be passed to a Response; undefined if it can. */
export function refusal(given) {
  const state = stateOf(given);
  if (state.owner !== host.current()) return foreignError();
  if (state.coupled) return new TypeError("Can't return WebSocket that was already used in a response.");
  if (state.accepted) return new TypeError("Can't return WebSocket in a Response after calling accept().");
  return undefined;
}

// Connects a socket to an opened connection.
function attach(state, handle, list) {
  state.peer = hostPeer(handle);
  state.link = handle;
  for (let at = 0; at < list.length; at += 2) {
    if (list[at] === "sec-websocket-protocol") state.protocol = list[at + 1];
    if (list[at] === "sec-websocket-extensions") state.extensions = list[at + 1];
  }
  ends.set(handle, { receive: (event) => receive(state, event), release: null });
}

/**
 * Opens a connection; fetch_abort ends it by key. Returns the result of
 * host.fetch_start, and the WebSocket, or null for any other response.
 */
export async function dial(key, url, list, protocols, redirect) {
  const answer = await host.socket_dial(key, url, list, protocols, redirect),
    handle = answer.pop();
  if (handle < 0) return [...answer, null];
  const made = new WebSocket(token);
  attach(stateOf(made), handle, answer[4]);
  return [...answer, made];
}

async function connect(state, href, protocols) {
  let handle = -1,
    headers = [],
    body = -1;
  try {
    [, , , , headers, body, handle] = await host.socket_dial(null, href, [], protocols, "manual");
    if (body >= 0) host.body_cancel(body);
  } catch (error) {
    state.failure = error;
  }
  if (handle < 0 || state.closed) {
    if (handle >= 0) host.socket_close(handle, 1001, "");
    state.closed = true;
    state.ready = CLOSED;
    fire(
      state.socket,
      new ErrorEvent("error", {
        message: `Uncaught Error: ${state.failure?.message ?? "Network connection lost."}`,
        error: state.failure,
      }),
    );
    fire(
      state.socket,
      new CloseEvent("close", { code: 1006, reason: "Failed to establish websocket connection", wasClean: false }),
    );
    return;
  }
  attach(state, handle, headers);
  state.ready = OPEN;
  state.peer.accept();
  fire(state.socket, new Event("open"));
}

function target(url) {
  let href;
  try {
    href = host.url_href(url);
  } catch {
    throw new DOMException("WebSocket Constructor: The url is invalid.", "SyntaxError");
  }
  href = href.replace(/^http(s?):/, "ws$1:");
  if (!/^wss?:/.test(href))
    throw new DOMException("WebSocket Constructor: The url scheme must be ws or wss.", "SyntaxError");
  if (href.includes("#"))
    throw new DOMException("WebSocket Constructor: The url fragment must be empty.", "SyntaxError");
  return href;
}

function protocolsOf(protocols) {
  if (protocols === undefined) return [];
  const list = typeof protocols === "object" && protocols !== null ? [...protocols].map(String) : [`${protocols}`];
  for (const name of list) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
      throw new DOMException("WebSocket Constructor: The protocol header token is invalid.", "SyntaxError");
  }
  if (new Set(list.map((name) => name.toLowerCase())).size !== list.length) {
    throw new DOMException("WebSocket Constructor: The protocols header cannot have repeating values.", "SyntaxError");
  }
  return list;
}

export class WebSocketPair {
  constructor() {
    inRequest();
    const one = new WebSocket(token),
      two = new WebSocket(token),
      a = stateOf(one),
      b = stateOf(two);
    a.peer = localPeer(b);
    b.peer = localPeer(a);
    a.other = b;
    b.other = a;
    this[0] = one;
    this[1] = two;
  }
  *[Symbol.iterator]() {
    yield this[0];
    yield this[1];
  }
}

export function install() {
  provideSockets({ dial, isSocket });
  for (const type of ["open", "message", "error", "close"]) handlerAttribute(WebSocket, type);
  for (const [at, name] of ["CONNECTING", "OPEN", "CLOSING", "CLOSED"].entries()) {
    for (const key of [name, `READY_STATE_${name}`]) {
      const constant = { value: at, enumerable: true };
      Object.defineProperty(WebSocket, key, constant);
      Object.defineProperty(WebSocket.prototype, key, constant);
    }
  }
  define("WebSocket", WebSocket);
  Object.defineProperty(WebSocket, "length", { value: 1, configurable: true });
  define("WebSocketPair", WebSocketPair);
}
