// KVNamespace: Workers KV. Checks, limits and error texts are the host's.
import { host } from "../../web/js/host.js";
import { drain, streamOf, viewOf } from "./body.js";

export class KVNamespace {
  #id;
  constructor(id) { this.#id = id; }

  async get(key, options) {
    need(arguments, 1, "get");
    return this.#read(key, options, false);
  }

  async getWithMetadata(key, options) {
    need(arguments, 1, "getWithMetadata");
    return this.#read(key, options, true);
  }

  async #read(key, options, withMetadata) {
    const { type, cacheTtl } = isObject(options) ? options : { type: options ?? undefined };
    const kind = type === undefined ? "text" : `${type}`;
    const many = Array.isArray(key);
    const method = many ? "GET_BULK" : "GET";
    const keys = many ? key.map((k) => keyOf(k, method)) : keyOf(key, method);
    const found = await host.kv_get(this.#id, keys, kind, int32(cacheTtl), withMetadata);
    if (many) return mapOf(found);
    if (kind !== "arrayBuffer" && kind !== "stream") return found;
    if (!withMetadata) return bodyOf(kind, found);
    found.value = bodyOf(kind, found.value);
    return found;
  }

  async put(key, value, options) {
    need(arguments, 2, "put");
    const name = keyOf(key, "PUT");
    const { expiration, expirationTtl, metadata } = optionsOf(options, "put", 3, "PutOptions");
    // The bytes are those of the call, whatever becomes of them while it is under way.
    const send = (content) => host.kv_put(this.#id, name, content, int32(expiration), int32(expirationTtl), jsonOf(metadata));
    await (value instanceof ReadableStream ? drain(value).then(send) : send(contentOf(value)));
  }

  async list(options) {
    const { prefix, limit, cursor } = optionsOf(options, "list", 1, "ListOptions");
    return host.kv_list(this.#id, `${prefix ?? ""}`, int32(limit) ?? 0, `${cursor ?? ""}`);
  }

  async delete(key) {
    need(arguments, 1, "delete");
    await host.kv_delete(this.#id, keyOf(key, "DELETE"));
  }
}

function need(given, count, method) {
  if (given.length < count) throw new TypeError(`KVNamespace.${method}() takes at least ${count} argument${count > 1 ? "s" : ""}, ${given.length} given`);
}

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function optionsOf(options, method, at, type) {
  if (options === undefined || options === null) return {};
  if (!isObject(options)) throw new TypeError(`Failed to execute '${method}' on 'KvNamespace': parameter ${at} is not of type '${type}'.`);
  return options;
}

// A key travels in a URL, which holds no half of a surrogate pair.
function keyOf(key, method) {
  const name = `${key}`;
  if (!name.isWellFormed()) throw new Error(`KV ${method} failed: 400 Could not URL-decode key name`);
  return name;
}

/** A number as production reads it: whole, towards zero, and 0 for what is no number. */
function int32(value) {
  if (value === undefined) return undefined;
  const n = Math.trunc(+value);
  if (!Number.isFinite(n)) return 0;
  if (n !== (n | 0)) throw new TypeError("Value out of range. Must be between -2147483648 and 2147483647 (inclusive).");
  return n + 0;
}

// null is no metadata, and undefined neither.
function jsonOf(metadata) {
  if (metadata === undefined || metadata === null) return undefined;
  const json = JSON.stringify(metadata);
  if (json === undefined) throw new TypeError("KV put(): the metadata has no form in JSON");
  return json;
}

function bodyOf(kind, bytes) {
  if (bytes === null) return null;
  return kind === "stream" ? streamOf(bytes, bytes.byteLength) : bytes.buffer;
}

function mapOf(list) {
  const map = new Map();
  for (let at = 0; at < list.length; at += 2) map.set(list[at], list[at + 1]);
  return map;
}

function contentOf(value) {
  if (typeof value === "string") return value;
  const view = viewOf(value);
  if (view !== undefined) return view;
  if (isObject(value) || typeof value === "symbol") {
    throw new TypeError("KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.");
  }
  return `${value}`;
}
