// The client of the wire: HTTP over the socket of `pages dev`, on kept-alive connections. Calls have numbers, so that they take effect in
// the order in which they were made, on any connections.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { Agent, request as open } from "node:http";

const VERSION = "1";
const ORDERED = /^(kv|r2|d1)\//;
const MOST_SOCKETS = 200; // of the 1,000 that pages serves
const IDLE = 60_000; // milliseconds, less than pages keeps a connection open

/** The id that pages gave to the request that the running code answers. */
const request = new AsyncLocalStorage();

/** Records the request for which calls are made, for each request to a server of this process. */
export function follow() {
  const started = channel("http.server.request.start");
  const note = ({ request: incoming }) => request.enterWith(incoming.headers["x-pages-request-id"]);
  started.subscribe(note);
  return () => started.unsubscribe(note);
}

const classes = { Error, TypeError, RangeError, SyntaxError };

/** The error for a Worker's code, from the header that describes it. */
function refusal({ name, message, props = {} }) {
  const cls = classes[name];
  const error = cls === undefined ? new DOMException(message, name) : new cls(message);
  for (const [key, value] of Object.entries(props)) {
    const given = typeof value === "object" ? refusal(value) : value;
    Object.defineProperty(error, key, {
      value: given,
      enumerable: key !== "cause",
      configurable: true,
      writable: true,
    });
  }
  return error;
}

export class Wire {
  #agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, maxFreeSockets: 16, timeout: IDLE });
  #at;
  #headers;
  #client = randomUUID();
  #number = 0;
  #bookmarks = new Map();
  #closed = false;

  /** @param {{ address: string, token: string }} server the address of the bindings: "unix:/path" or "127.0.0.1:port" */
  constructor({ address, token }) {
    if (address.startsWith("unix:")) this.#at = { socketPath: address.slice("unix:".length) };
    else {
      const { hostname, port } = new URL(`http://${address}`);
      this.#at = { host: hostname, port };
    }
    this.#headers = { "pages-wire": VERSION, "pages-token": token, "pages-errors": "1" };
  }

  /** Opens a request. It gets the number of this moment. */
  #open({ binding, method, path, headers = {} }) {
    if (this.#closed) throw new Error("the bindings were disposed: call getPlatform() again");
    const all = { ...headers, ...this.#headers, "pages-binding": binding };
    if (ORDERED.test(binding)) {
      all["pages-client"] = this.#client;
      all["pages-order"] = ++this.#number;
    }
    const id = request.getStore();
    if (id !== undefined) all["pages-request"] = id;
    return open({ ...this.#at, agent: this.#agent, method, path, headers: all });
  }

  /** Makes a call, and resolves to its response after the head; rejects with a refusal of the binding. */
  call(given) {
    return new Promise((resolve, reject) => {
      const { body } = given;
      const sent = this.#open(given);
      this.#settle(sent, given.binding, resolve, reject);
      if (body === undefined) return sent.end();
      const whole = Array.isArray(body) ? Buffer.concat(body) : body;
      sent.setHeader("content-length", Buffer.byteLength(whole));
      sent.end(whole);
    });
  }

  #settle(sent, binding, resolve, reject) {
    sent.once("response", (incoming) => {
      const answer = new Answer(incoming, (error) => this.#lost(error));
      const said = incoming.headers["pages-error"];
      if (said !== undefined) {
        incoming.resume();
        return reject(refusal(JSON.parse(said)));
      }
      if (incoming.statusCode < 400 || !isFault(incoming, binding)) return resolve(answer);
      answer.text().then((text) => reject(new Error(`pages refused the call: ${text}`)), reject);
    });
    sent.once("error", (error) => reject(this.#lost(error)));
  }

  #lost(error) {
    if (this.#closed) return new Error("the bindings were disposed during the call");
    const lost = new Error(
      `pages dev does not answer any more (${error.code ?? error.message}): start it again, and this process after it`,
      { cause: error },
    );
    return Object.assign(lost, { code: "PAGES_DEV_ENDED" });
  }

  /** A call whose body is sent piece by piece. */
  upload(given) {
    return new Upload(this.#open(given), (sent, resolve, reject) => this.#settle(sent, given.binding, resolve, reject));
  }

  /** Records the bookmark after a call of a database. */
  seen(name, bookmark) {
    if (bookmark !== undefined && !(this.#bookmarks.get(name) > bookmark)) this.#bookmarks.set(name, bookmark);
  }

  bookmark(name) {
    return this.#bookmarks.get(name);
  }

  close() {
    this.#closed = true;
    this.#agent.destroy();
  }
}

/** Whether a status means that the call failed, and is not a result of the binding. */
function isFault(incoming, binding) {
  if (binding.startsWith("assets/")) return false;
  if (binding === "cache") return incoming.statusCode < 500 && ![404, 413].includes(incoming.statusCode);
  if (incoming.headers["cf-r2-error"] !== undefined) return false;
  return !(binding.startsWith("kv/") && incoming.statusCode === 404);
}

/** A response whose body is read in one of several ways. */
class Answer {
  #incoming;
  #lost;
  #pieces = null;
  #rest = null; // of a piece, after take

  constructor(incoming, lost) {
    this.#incoming = incoming;
    this.#lost = lost;
    this.status = incoming.statusCode;
    this.statusText = incoming.statusMessage;
    this.headers = incoming.headers;
    this.rawHeaders = incoming.rawHeaders;
  }

  /** The next bytes; null at the end. */
  async read() {
    if (this.#rest !== null) {
      const rest = this.#rest;
      this.#rest = null;
      return rest;
    }
    this.#pieces ??= this.#incoming[Symbol.asyncIterator]();
    try {
      const { done, value } = await this.#pieces.next();
      return done ? null : value;
    } catch (error) {
      throw this.#lost(error);
    }
  }

  /** The first bytes, up to a number of them. */
  async take(size) {
    const pieces = [];
    for (let have = 0; have < size; ) {
      const piece = await this.read();
      if (piece === null) throw this.#lost(new Error("the response is incomplete"));
      const here = piece.subarray(0, size - have);
      if (here.length < piece.length) this.#rest = piece.subarray(here.length);
      pieces.push(here);
      have += here.length;
    }
    return Buffer.concat(pieces);
  }

  #buffer() {
    return new Promise((resolve, reject) => {
      if (this.#pieces !== null) {
        this.#remaining().then(resolve, reject);
        return;
      }
      const pieces = [];
      this.#incoming.on("data", (piece) => pieces.push(piece));
      this.#incoming.once("end", () => resolve(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)));
      this.#incoming.once("error", (error) => reject(this.#lost(error)));
    });
  }

  async #remaining() {
    const pieces = [];
    for (let piece = await this.read(); piece !== null; piece = await this.read()) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The rest, in a new buffer. */
  async bytes() {
    return new Uint8Array(await this.#buffer());
  }

  async text() {
    return `${await this.#buffer()}`;
  }

  abort() {
    this.#incoming.destroy();
  }
}

/** A body that is sent piece by piece. */
class Upload {
  #sent;
  #answer;
  #answered = false;

  constructor(sent, settle) {
    this.#sent = sent;
    this.target = undefined;
    this.#answer = new Promise((resolve, reject) => settle(sent, resolve, reject)).finally(() => {
      this.#answered = true;
    });
    this.#answer.catch(() => {}); // write and commit report it
  }

  /** Sends bytes, and waits until there is room for more. */
  async write(bytes) {
    if (this.#answered) {
      await this.#answer; // refused already
      throw new Error("the response came before the body of the call was sent");
    }
    if (this.#sent.write(Buffer.from(bytes))) return;
    await new Promise((resolve) => {
      this.#sent.once("drain", resolve);
      this.#answer.then(resolve, resolve);
    });
  }

  commit() {
    this.#sent.end();
    return this.#answer;
  }

  abort() {
    if (!this.#answered) this.#sent.destroy();
  }
}
