// https://w3c.github.io/ServiceWorker/#cache-interface as in Workers: one response for each URL, stored by its headers. Go stores them.
import { host } from "../../webidl/js/host.js";
import { HostBody, takeBody, unusable } from "../../fetch/js/body.js";
import { concat } from "../../textcodec/js/encoding.js";
import { get } from "../../fetch/js/headers.js";
import { attribute, define, guarded } from "../../webidl/js/idl.js";
import { isRequest, target } from "../../fetch/js/request.js";
import { head, isResponse, kept } from "../../fetch/js/response.js";
import { asText, isStream, pump } from "../../streams/js/streams.js";

const token = {};
const MAX_CACHED = 16 * 2 ** 20; // as in Go

let nameOf;

class Cache {
  #name;
  static {
    nameOf = guarded("Cache", (cache) => cache.#name);
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    this.#name = arguments[1];
  }
  async match(request, options = undefined) {
    const name = nameOf(this),
      { url, method, list } = keyOf(arguments, "match");
    if (!allows(method, options)) return undefined;
    const found = await host.cache_match(name, url, list);
    return found === null ? undefined : kept(...found);
  }
  async put(request, response) {
    const name = nameOf(this),
      { url, method, list } = keyOf(arguments, "put");
    if (!isResponse(response))
      throw new TypeError("Failed to execute 'put' on 'Cache': parameter 2 is not of type 'Response'.");
    const state = head(response),
      { status } = state;
    if (method !== "GET") throw new TypeError("Cannot cache response to non-GET request.");
    if (status === 0) throw new TypeError("Cache is unable to store an error response");
    if (status === 206) throw new TypeError("Cannot cache response to a range request (206 Partial Content).");
    if (
      get(state.list, "vary")
        ?.split(",")
        .some((name) => name.trim() === "*")
    )
      throw new TypeError("Cannot cache response with 'Vary: *' header.");
    if (status === 101 || state.extra?.webSocket) throw new TypeError("Cannot cache WebSocket upgrade response.");
    if (unusable(state))
      throw new TypeError(
        "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",
      );
    let body = takeBody(state);
    if (status === 304) {
      console.warn("Cache.put: a response with status 304 is not kept: it has no body of its own");
      return;
    }
    const answer = state.list.slice();
    if (isStream(body)) body = await readCached(body);
    const keep = (bytes, handle) =>
      host.cache_put(name, url, list, status, answer, bytes, handle, state.extra?.manual ?? false);
    const reason = await (body instanceof HostBody ? body.read((handle) => keep(null, handle)) : keep(body, -1));
    if (reason !== null) console.debug(`Cache.put: the response for ${url} is not kept: ${reason}`);
  }
  async delete(request, options = undefined) {
    const name = nameOf(this),
      { url, method } = keyOf(arguments, "delete");
    return allows(method, options) && host.cache_delete(name, url);
  }
}

// The bytes of a stream, up to one more than may be stored.
async function readCached(stream) {
  const pieces = [],
    enough = new Error("the response is too large for a cache");
  let size = 0;
  try {
    await pump(
      stream,
      (bytes) => {
        pieces.push(bytes);
        size += bytes.byteLength;
        if (size > MAX_CACHED) throw enough;
      },
      null,
      asText,
    );
  } catch (error) {
    if (error !== enough) throw error;
  }
  return concat(pieces);
}

function keyOf(args, method) {
  if (args.length === 0)
    throw new TypeError(`Failed to execute '${method}' on 'Cache': parameter 1 is not of type 'Request or string'.`);
  if (isRequest(args[0])) return target(args[0]);
  const given = `${args[0]}`.toWellFormed();
  let url;
  try {
    url = host.url_href(given);
  } catch {
    throw new TypeError(`Invalid URL: ${given}`);
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(url))
    throw new TypeError("Invalid URL. Cache API keys must be fully-qualified, valid URLs.");
  return { url, method: "GET", list: [] };
}

function allows(method, options) {
  for (const name of ["ignoreSearch", "ignoreVary"]) {
    if (options?.[name] !== undefined)
      throw new Error(`The '${name}' field on 'CacheQueryOptions' is not implemented.`);
  }
  return method === "GET" || !!options?.ignoreMethod;
}

class CacheStorage {
  #default = new Cache(token, "default:");
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
  }
  get default() {
    return this.#default;
  }
  async open(cacheName) {
    if (arguments.length === 0)
      throw new TypeError("Failed to execute 'open' on 'CacheStorage': parameter 1 is not of type 'string'.");
    return new Cache(token, `named:${cacheName}`);
  }
}

// Methods of the standard that the platform lacks.
function unsupported(cls, name, methods) {
  for (const method of methods) {
    const refuse = {
      async [method]() {
        throw new Error(`Failed to execute '${method}' on '${name}': the method is not implemented.`);
      },
    }[method];
    Object.defineProperty(cls.prototype, method, { value: refuse, writable: true, configurable: true });
  }
}

export function install() {
  unsupported(Cache, "Cache", ["add", "addAll", "keys", "matchAll"]);
  unsupported(CacheStorage, "CacheStorage", ["delete", "has", "keys", "match"]);
  define("Cache", Cache);
  define("CacheStorage", CacheStorage);
  attribute("caches", new CacheStorage(token));
}
