// KvNamespace: Workers KV; the type is called KVNamespace, the class is not. Limits and most error texts are the host's.
import { host } from "../../../web/webidl/js/host.js";
import { asText, pump } from "../../../web/streams/js/streams.js";
import { dress } from "../../../web/webidl/js/idl.js";
import { located } from "../../../web/language/js/trace.js";
import { streamOf, viewOf } from "../../hostcall/js/body.js";
import { int32, isObject, options as converted, required, struct, text } from "../../hostcall/js/convert.js";

const KV = "KvNamespace";
const maybe = (value) => (value === null ? undefined : text(value));
const GET = { type: text, cacheTtl: int32 };
const PUT = { expiration: int32, expirationTtl: int32, metadata: (value) => value };
const LIST = { prefix: maybe, limit: int32, cursor: maybe };

export class KvNamespace {
  #id;
  constructor(id) {
    this.#id = id;
  }

  async get(key, options) {
    required(arguments, "get", KV, "string or Array");
    return this.#read(key, options, false);
  }

  async getWithMetadata(key, options) {
    required(arguments, "getWithMetadata", KV, "Array or string");
    return this.#read(key, options, true);
  }

  async #read(key, options, withMetadata) {
    const fields = isObject(options) ? options : { type: options ?? undefined };
    const { type = "text", cacheTtl } = struct(fields, "GetOptions", GET);
    const many = Array.isArray(key);
    const method = many ? "GET_BULK" : "GET";
    const keys = many ? key.map((k) => keyOf(k, method)) : keyOf(key, method);
    const found = await located(parsed(host.kv_get(this.#id, keys, type, cacheTtl, withMetadata)));
    if (many) return mapOf(found);
    if (type !== "arrayBuffer" && type !== "stream") return found;
    if (!withMetadata) return bodyOf(found);
    found.value = bodyOf(found.value);
    return found;
  }

  async put(key, value, options) {
    required(arguments, "put", KV, "string", "string or Object");
    const name = keyOf(key, "PUT");
    const { expiration, expirationTtl, metadata } = converted(options, "put", KV, 3, "PutOptions", PUT);
    const send = (content, received) =>
      host.kv_put(this.#id, name, content, expiration, expirationTtl, jsonOf(metadata), received);
    // The bytes at the time of the call: later changes have no effect.
    await located(
      value instanceof ReadableStream ? receive(this.#id, value, (held) => send(null, held)) : send(contentOf(value)),
    );
  }

  async list(options) {
    const { prefix = "", limit = 0, cursor = "" } = converted(options, "list", KV, 1, "ListOptions", LIST);
    return located(host.kv_list(this.#id, prefix, limit, cursor));
  }

  async delete(key) {
    required(arguments, "delete", KV, "string");
    await located(host.kv_delete(this.#id, keyOf(key, "DELETE")));
  }
}

dress(KV, KvNamespace);

// A key becomes part of a URL, which cannot contain a lone surrogate.
function keyOf(key, method) {
  const name = text(key);
  if (name.includes("\ufffd") && !`${key}`.isWellFormed())
    throw new Error(`KV ${method} failed: 400 Could not URL-decode key name`);
  return name;
}

/** The value from the host; a text that is not JSON makes JSON.parse throw its error. */
async function parsed(found) {
  try {
    return await found;
  } catch (error) {
    throw typeof error.text === "string" ? faultOf(error.text, error) : error;
  }
}

/** The error of JSON.parse, with our lines; known if it finds no error. */
function faultOf(json, known) {
  try {
    JSON.parse(json);
    return known;
  } catch (fault) {
    fault.stack = `${fault}`;
    return fault;
  }
}

// Both null and undefined mean no metadata.
function jsonOf(metadata) {
  if (metadata === undefined || metadata === null) return undefined;
  const json = JSON.stringify(metadata);
  if (json === undefined) throw new TypeError("KV put(): the metadata has no form in JSON");
  return json;
}

/** Passes the stream to the host in chunks, and calls send with the number of the stored stream. */
async function receive(id, stream, send) {
  const held = host.kv_receive(id);
  try {
    await pump(stream, (bytes) => host.kv_received(held, bytes), null, asText);
    await send(held);
  } finally {
    host.binding_close(held);
  }
}

// An ArrayBuffer, or the body of a stream and its length.
function bodyOf(found) {
  if (found === null) return null;
  return found.size === undefined ? found.buffer : streamOf(found.body, found.size);
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
    throw new TypeError(
      "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.",
    );
  }
  return `${value}`;
}
