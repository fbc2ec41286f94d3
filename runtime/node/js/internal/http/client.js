// https://nodejs.org/api/http.html#class-httpclientrequest: a message that is
// sent by the Worker's fetch, and whose answer comes as another.
import { Buffer } from "node:buffer";
import { urlToHttpOptions } from "node:url";
import { absentOption } from "node:internal/absent";
import { globalAgent } from "node:internal/http/agent";
import {
  AbortError,
  invalidType,
  invalidValue,
  needBoolean,
  needFunction,
  needInteger,
  needSignal,
  needString,
  NodeError,
  outOfRange,
} from "node:internal/errors";
import { validateHeaderName } from "node:internal/http/headers";
import { aborted, IncomingMessage, receiveResponse } from "node:internal/http/incoming";
import { hangUp, lost, notFound } from "node:internal/http/lost";
import { fixHead, kEnding, kHead, mergeHeaders, OutgoingMessage } from "node:internal/http/outgoing";
import { Socket } from "node:internal/http/socket";

// Connection is the socket of one request, with a timer of how long nothing moves.
class Connection extends Socket {
  #timer;
  timeout = 0;

  setTimeout(milliseconds, callback) {
    this.timeout = milliseconds;
    if (callback) this[milliseconds === 0 ? "removeListener" : "once"]("timeout", callback);
    clearTimeout(this.#timer);
    this.moved();
    return this;
  }

  moved() {
    if (this.timeout === 0 || this.destroyed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.emit("timeout"), this.timeout);
  }

  destroy(error) {
    clearTimeout(this.#timer);
    return super.destroy(error);
  }
}

/** The options and the listener from the arguments of request: (url, options, listener), (url, listener) or (options, listener). */
export function optionsOf(input, options, listener) {
  if (typeof input === "string") input = urlToHttpOptions(new URL(input));
  else if (input instanceof URL) input = urlToHttpOptions(input);
  else [input, options, listener] = [null, input, options];
  if (typeof options === "function") [options, listener] = [null, options];
  return [{ ...input, ...options }, listener];
}

function agentOf({ agent, _defaultAgent = globalAgent }) {
  if (agent === false) return new /** @type {any} */ (_defaultAgent.constructor)();
  if (agent === undefined || agent === null) return _defaultAgent;
  if (typeof agent.addRequest !== "function")
    throw invalidType("options.agent", ["Agent-like Object", "undefined", "false"], agent);
  return agent;
}

function hostOf({ hostname, host }) {
  for (const [name, value] of Object.entries({ hostname, host })) {
    if (value !== undefined && value !== null && typeof value !== "string")
      throw invalidType(`options.${name}`, ["string", "undefined", "null"], value);
  }
  return hostname || host || "localhost";
}

function methodOf({ method }) {
  if (method !== undefined && method !== null) needString(method, "options.method");
  if (!method) return "GET";
  validateHeaderName(method, "Method");
  return method.toUpperCase();
}

// The path must be one: a whole URL would name another host than the options.
function pathOf({ path }) {
  if (!path) return "/";
  if (/[^\u0021-\u00ff]/.test(path))
    throw NodeError(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(path))
    throw invalidValue("options.path", path, "must be a path-only request target");
  return `${path}`;
}

// Options that fetch does not support: the calling code would not notice.
const ABSENT = {
  maxHeaderSize: needInteger,
  createConnection: needFunction,
  lookup: needFunction,
  socketPath: needString,
};

function needPossible(options) {
  for (const [name, need] of Object.entries(ABSENT)) {
    if (options[name] === undefined || options[name] === null) continue;
    need(options[name], `options.${name}`);
    throw absentOption(`http ${name}`);
  }
  for (const name of ["insecureHTTPParser", "joinDuplicateHeaders"]) {
    if (options[name] !== undefined) needBoolean(options[name], `options.${name}`);
  }
}

function duration(value, name) {
  if (typeof value !== "number") throw invalidType(name, "number", value);
  if (value < 0 || !Number.isFinite(value)) throw outOfRange(name, "a non-negative finite number", value);
  return value;
}

// Node.js sends a body with every method; where fetch would drop it, the request fails.
function needless(method) {
  return NodeError(
    Error,
    "ERR_HTTP_BODY_NOT_ALLOWED",
    `a ${method} request of a Worker has no body, since fetch sends it; use POST, or put it into the URL`,
  );
}

function bracketed(host) {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

export class ClientRequest extends OutgoingMessage {
  #port;
  #fetching = new AbortController();
  #connected = false;
  #sent = false;
  #body = null; // the writer of a body, which is sent while it is written

  constructor(input, options, listener) {
    [options, listener] = optionsOf(input, options, listener);
    super({ highWaterMark: options.highWaterMark });
    this._writableState.autoDestroy = false; // it closes after its response
    const agent = (this.agent = agentOf(options)),
      { _defaultAgent = globalAgent } = options;
    this.#aim(options, agent, _defaultAgent);
    needPossible(options);
    const timeout = options.timeout ?? (agent === _defaultAgent ? undefined : agent.options?.timeout);
    if (timeout !== undefined) this.timeout = duration(timeout, "timeout");
    this.aborted = this.reusedSocket = false;
    this.maxHeadersCount = null;
    this.joinDuplicateHeaders = options.joinDuplicateHeaders;
    this.res = null;
    if (listener) this.once("response", listener);
    this.#head(options, agent);
    this.#connect();
    if (options.signal) this.#obey(options.signal);
  }

  #aim(options, agent, fallback) {
    this.path = pathOf(options);
    const protocol = options.protocol || fallback.protocol,
      expected = agent.protocol || fallback.protocol;
    if (protocol !== expected)
      throw NodeError(
        TypeError,
        "ERR_INVALID_PROTOCOL",
        `Protocol "${protocol}" not supported. Expected "${expected}"`,
      );
    this.protocol = protocol;
    this.#port = options.port || options.defaultPort || agent.defaultPort || 80;
    this.host = hostOf(options);
    this.method = methodOf(options);
    this._hasBody = this.method !== "GET" && this.method !== "HEAD"; // fetch sends none with these
  }

  #head({ headers, setHost = true, auth, defaultPort }, agent) {
    mergeHeaders(this, headers);
    if (Array.isArray(headers)) return;
    const usual = Number(this.#port) === Number(defaultPort || agent.defaultPort || 80);
    if (setHost && !this.hasHeader("host"))
      this.setHeader("Host", `${bracketed(this.host)}${usual ? "" : `:${this.#port}`}`);
    if (auth && !this.hasHeader("authorization"))
      this.setHeader("Authorization", `Basic ${Buffer.from(auth).toString("base64")}`);
  }

  #connect() {
    const facts = { remoteAddress: this.host, remotePort: Number(this.#port), encrypted: this.protocol === "https:" };
    const socket = (this.socket = new Connection(facts, (error) => this.#closed(error)));
    socket.on("timeout", () => {
      this.emit("timeout");
      this.res?.emit("timeout");
    });
    process.nextTick(() => {
      if (this.destroyed) return;
      this.#connected = true;
      this.emit("socket", socket);
      if (this.timeout !== undefined) socket.setTimeout(this.timeout);
    });
  }

  #obey(signal) {
    needSignal(signal);
    const abort = () => this.destroy(new AbortError(undefined, { cause: signal.reason }));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    this.once("close", () => signal.removeEventListener("abort", abort));
  }

  // A broken connection is an error of the response alone; a destroyed response closes first.
  #closed(error) {
    const { res } = this;
    if (res !== null && error?.code === "ECONNRESET") this.destroy();
    else if (res?.destroyed) res.once("close", () => this.destroy(error));
    else this.destroy(error);
  }

  #send(body) {
    this.#sent = true;
    if (/[/\\?#@\s]/.test(this.host)) return process.nextTick(() => this.destroy(notFound(this.host)));
    const url = `${this.protocol}//${bracketed(this.host)}:${this.#port}${this.path.startsWith("/") ? "" : "/"}${this.path}`;
    // Node.js asks for no encoding; fetch would by itself.
    const headers = this.hasHeader("accept-encoding") ? this[kHead] : [...this[kHead], ["Accept-Encoding", "identity"]];
    /** @type {any} encodeResponseBody is the platform's own */
    const init = {
      method: this.method,
      headers,
      body,
      encodeResponseBody: "manual",
      redirect: "manual",
      signal: this.#fetching.signal,
    };
    fetch(url, init).then(
      (response) => this.#answered(response),
      (error) => this.destroy(lost(error, this.host)),
    );
  }

  // Sends the head, and the body while it is written.
  #stream() {
    if (this.#sent) return;
    const { readable, writable } =
      this._contentLength === null ? new IdentityTransformStream() : new FixedLengthStream(this._contentLength);
    this.#body = writable.getWriter();
    this.#body.closed.catch(() => {}); // fetch tells
    this.#send(readable);
  }

  #answered(response) {
    if (this.destroyed) return response.body?.cancel().catch(() => {});
    this.socket.moved();
    const res = (this.res = new IncomingMessage(this.socket));
    res.req = this;
    res.joinDuplicateHeaders = this.joinDuplicateHeaders ?? false;
    receiveResponse(res, response);
    res.once("end", () => {
      if (this.writableFinished) this.destroy();
      else this.once("finish", () => this.destroy());
    });
    if (!this.emit("response", res)) res.resume();
  }

  _implicitHeader() {
    if (this._header !== null)
      throw NodeError(Error, "ERR_HTTP_HEADERS_SENT", "Cannot render headers after they are sent to the client");
    fixHead(this, `${this.method} ${this.path} HTTP/1.1`);
  }

  _flush() {
    if (this._hasBody) this.#stream();
    else if (!this.#sent) this.#send(null);
  }

  _write(chunk, encoding, callback) {
    this.socket.moved();
    if (!this._hasBody) return callback(chunk.byteLength > 0 ? needless(this.method) : null);
    const bytes = new Uint8Array(chunk); // a copy: the writer may use its buffer again
    if (!this.#sent && this[kEnding]) {
      this.#send(bytes);
      return callback();
    }
    this.#stream();
    this.#body.write(bytes).then(
      () => callback(),
      () => callback(),
    ); // fetch reports the failure
  }

  _writev(chunks, callback) {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "buffer", callback);
  }

  _final(callback) {
    if (!this.#sent) this.#send(null);
    if (this.#body === null) callback();
    else
      this.#body.close().then(
        () => callback(),
        () => callback(),
      );
  }

  _destroy(error, callback) {
    const { res } = this;
    if (res === null) error ??= this.aborted && !this.#connected ? null : hangUp();
    else if (!res.complete) res.destroy(aborted());
    if (!res?.complete) {
      this.#body?.abort(error).catch(() => {});
      this.#fetching.abort();
    }
    this.socket.destroy();
    callback(error);
  }

  abort() {
    if (this.aborted) return;
    this.aborted = true;
    process.nextTick(() => this.emit("abort"));
    this.destroy();
  }

  setTimeout(milliseconds, callback) {
    this.timeout = duration(milliseconds, "msecs");
    if (callback) this.once("timeout", callback);
    this.socket.setTimeout(this.timeout);
    return this;
  }

  clearTimeout(callback) {
    return this.setTimeout(0, callback);
  }
  onSocket() {}
  setNoDelay() {}
  setSocketKeepAlive() {}
}

export default ClientRequest;
