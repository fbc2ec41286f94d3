// KVNamespace: Workers KV. Checks, limits and error texts are the host's.
import { host } from "../../web/js/host.js";
import { drain, streamOf, viewOf } from "./body.js";

export class KVNamespace {
  #id;
  constructor(id) { this.#id = id; }

  async get(key, options) {
    return this.#read(key, options, false);
  }

  async getWithMetadata(key, options) {
    return this.#read(key, options, true);
  }

  async #read(key, options, withMetadata) {
    const { type, cacheTtl } = typeof options === "string" ? { type: options } : options ?? {};
    const kind = type === undefined ? "text" : `${type}`;
    const keys = Array.isArray(key) ? key.map(String) : `${key}`;
    const found = await host.kv_get(this.#id, keys, kind, cacheTtl ?? undefined, withMetadata);
    if (Array.isArray(key)) return mapOf(found);
    if (kind !== "arrayBuffer" && kind !== "stream") return found;
    if (!withMetadata) return bodyOf(kind, found);
    found.value = bodyOf(kind, found.value);
    return found;
  }

  async put(key, value, options) {
    const { expiration, expirationTtl, metadata } = options ?? {};
    // undefined has no JSON, null has: it is metadata of its own.
    const json = metadata === undefined ? undefined : JSON.stringify(metadata);
    await host.kv_put(this.#id, `${key}`, await contentOf(value), expiration ?? undefined, expirationTtl ?? undefined, json);
  }

  async list(options) {
    const { prefix, limit, cursor } = options ?? {};
    return host.kv_list(this.#id, prefix ?? "", limit ?? 0, cursor ?? "");
  }

  async delete(key) {
    await host.kv_delete(this.#id, `${key}`);
  }
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

async function contentOf(value) {
  if (typeof value === "string") return value;
  const view = viewOf(value);
  if (view !== undefined) return view;
  if (value instanceof ReadableStream) return drain(value);
  if ((typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "symbol") {
    throw new TypeError("KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.");
  }
  return `${value}`;
}
