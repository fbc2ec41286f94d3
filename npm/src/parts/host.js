// The host functions, over the wire: `pages dev` has the bindings, and this process is their guest. Each environment has one connection to
// one dev server; `using` finds it by a binding's id.
import { Wire } from "../wire.js";

/** @type {Map<string, { wire: Wire, name: string }>} */
const bound = new Map();
let ids = 0;

/** The id of the binding with a name on a wire, for the classes of bindings. */
export function bind(wire, name) {
  const id = `${++ids}`;
  bound.set(id, { wire, name });
  return id;
}

function call(id, kind, request) {
  const { wire, name } = bound.get(id);
  return wire.call({ ...request, binding: `${kind}/${name}` });
}

// Open bodies and uploads, by number.
const open = new Map();
let handles = 0;

function keep(value) {
  open.set(++handles, value);
  return handles;
}

function take(handle) {
  const found = open.get(handle);
  if (found === undefined) throw new TypeError("the body was closed");
  return found;
}

// A response comes with the first bytes of its body: most bodies are then complete, and need no handle.
const SMALL = 64 << 10;

/** The body of a response: bytes if it is small, else a handle for binding_read. */
async function bodyOf(answer) {
  const length = Number(answer.headers["content-length"] ?? Number.NaN);
  if (length <= SMALL) return answer.bytes();
  return keep(answer);
}

const bytesOf = (content) => (typeof content === "string" ? Buffer.from(content.toWellFormed()) : content);

/** The options of KV that are parameters. */
function parameters(fields) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value);
  return `${query}`;
}

const kvPath = (key, query = {}) => `/${encodeURIComponent(key)}?${parameters({ urlencoded: "true", ...query })}`;

const ALL = 0,
  RAW = 1,
  RAW_NAMED = 2,
  FIRST = 3;

/** Values to bind as JSON: bytes are arrays of numbers, and numbers beyond JSON's are written as they are read. */
function queryJSON(sql, params) {
  if (params.length === 0) return `{"sql":${JSON.stringify(sql)}}`;
  const values = params.map((value) => {
    if (value instanceof Uint8Array) return `[${value}]`;
    if (value === Number.POSITIVE_INFINITY) return "1e999";
    if (value === Number.NEGATIVE_INFINITY) return "-1e999";
    return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  });
  return `{"sql":${JSON.stringify(sql)},"params":[${values}]}`;
}

async function d1(id, path, body) {
  const { wire, name } = bound.get(id);
  const answer = await wire.call({ binding: `d1/${name}`, method: "POST", path, headers: SESSION, body });
  wire.seen(name, answer.headers[session]);
  return JSON.parse(await answer.text());
}

const session = "x-cf-d1-session-commit-token",
  SESSION = { [session]: "first-primary" };

function tupleOf({ results, meta }) {
  return [
    results,
    meta.duration,
    meta.changes,
    meta.last_row_id,
    meta.changed_db,
    meta.size_after,
    meta.rows_read,
    meta.rows_written,
  ];
}

function columnOf(row, column) {
  if (Object.hasOwn(row, column)) return row[column];
  throw new Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, { cause: new Error("Column not found") });
}

// R2's protocol.

const r2Header = "cf-r2-request",
  r2Size = "cf-r2-metadata-size";
const NUMBERED = ["md5", "sha1", "sha256", "sha384", "sha512"];
const version = 1;

/** The conditions of r2.js in the form of R2's client. */
function onlyIf(given) {
  if (given === undefined) return undefined;
  const tag = (bare, header) => {
    if (bare !== undefined) return [{ type: "strong", value: bare }];
    return header === undefined ? undefined : headerTags(header);
  };
  return {
    etagMatches: tag(given.etagMatches, given.ifMatch),
    etagDoesNotMatch: tag(given.etagDoesNotMatch, given.ifNoneMatch),
    uploadedBefore: given.uploadedBefore === undefined ? undefined : `${given.uploadedBefore}`,
    uploadedAfter: given.uploadedAfter === undefined ? undefined : `${given.uploadedAfter}`,
    secondsGranularity: given.secondsGranularity,
  };
}

/** The entity tags of a header: "a", W/"b", or *. */
function headerTags(header) {
  const list = [];
  for (const [, weak, value, star] of header.matchAll(/(W\/)?"([^"]*)"|(\*)/g)) {
    if (star !== undefined) return [{ type: "wildcard", value: "*" }];
    list.push({ type: weak === undefined ? "strong" : "weak", value });
  }
  if (list.length === 0) throw new Error("Weak etags must start with W/ and their value must be quoted");
  return list;
}

/** The target of a put of r2.js in the form of R2's client. */
function target(key, json) {
  const o = JSON.parse(json);
  if (o.part !== undefined)
    return { method: "uploadPart", object: key, uploadId: o.part.upload, partNumber: o.part.number };
  return { method: "put", object: key, ...described(o), onlyIf: onlyIf(o.onlyIf), ...digestOf(o) };
}

function described({ httpMetadata, customMetadata, storageClass }) {
  const { cacheExpiry, ...rest } = httpMetadata ?? {};
  return {
    httpFields:
      httpMetadata === undefined
        ? undefined
        : { ...rest, cacheExpiry: cacheExpiry === undefined ? undefined : `${cacheExpiry}` },
    customFields: customMetadata === undefined ? undefined : Object.entries(customMetadata).map(([k, v]) => ({ k, v })),
    storageClass,
  };
}

function digestOf({ hash, digest }) {
  if (hash === undefined) return {};
  return { [hash]: hash === "md5" ? Buffer.from(digest, "hex").toString("base64") : digest };
}

/** An object in the form in which the host passes it to r2.js. */
function objectOf(o) {
  const checksums = {};
  for (const [number, hex] of Object.entries(o.checksums)) checksums[NUMBERED[number]] = hex;
  const found = {
    key: o.name,
    version: o.version,
    size: o.size,
    etag: o.etag,
    checksums,
    uploaded: o.uploaded,
    range: o.range,
    storageClass: o.storageClass,
  };
  if (o.httpFields !== undefined) {
    found.httpMetadata = { ...o.httpFields };
    if (o.httpFields.cacheExpiry !== undefined) found.httpMetadata.cacheExpiry = Number(o.httpFields.cacheExpiry);
  }
  if (o.customFields !== undefined) found.customMetadata = Object.fromEntries(o.customFields.map(({ k, v }) => [k, v]));
  return found;
}

// Error codes of R2 that become null: no such key, and a condition that does not hold.
const NO_KEY = 10007,
  PRECONDITION = 10031;

function refused(answer) {
  const said = answer.headers["cf-r2-error"];
  return said === undefined ? 0 : JSON.parse(said).v4code;
}

/** The JSON before the bytes of a response; null for none. */
async function metadataOf(answer) {
  const size = Number(answer.headers[r2Size] ?? 0);
  return size === 0 ? null : JSON.parse(new TextDecoder().decode(await answer.take(size)));
}

async function whole(answer) {
  const found = await metadataOf(answer);
  await answer.bytes();
  return found;
}

function r2Get(id, request) {
  const headers = { [r2Header]: ascii(JSON.stringify({ version, ...request })) };
  return call(id, "r2", { method: "GET", path: "/", headers });
}

/** JSON in a header. */
function ascii(json) {
  return json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function r2Put(id, request, content) {
  const head = Buffer.from(JSON.stringify({ version, ...request }));
  const { wire, name } = bound.get(id);
  return wire.call({
    binding: `r2/${name}`,
    method: "PUT",
    path: "/",
    headers: { [r2Size]: `${head.length}` },
    body: content === undefined ? head : [head, content],
  });
}

/** The result of a request that stores: an object, a part, or null if a condition did not hold. */
async function storedOf(answer, { partNumber }) {
  const code = refused(answer);
  const found = await whole(answer);
  if (code === PRECONDITION) return null;
  return partNumber === undefined ? objectOf(found) : { partNumber, etag: found.etag };
}

/** @type {any} */
export const host = {
  async db_query(id, sql, params, shape, column) {
    const format = shape === RAW || shape === RAW_NAMED ? "ROWS_AND_COLUMNS" : "ARRAY_OF_OBJECTS";
    const answer = await d1(id, `/query?resultsFormat=${format}`, queryJSON(sql, params));
    if (shape === ALL) return tupleOf(answer);
    const { results } = answer;
    if (shape === RAW) return results.rows;
    if (shape === RAW_NAMED) return [results.columns, ...results.rows];
    const first = results[0] ?? null;
    return shape === FIRST || first === null ? first : columnOf(first, column);
  },
  async db_batch(id, flat) {
    const queries = [];
    for (let at = 0; at < flat.length; at += 2) queries.push(queryJSON(flat[at], flat[at + 1] ?? []));
    return (await d1(id, "/query?resultsFormat=ARRAY_OF_OBJECTS", `[${queries}]`)).map(tupleOf);
  },
  async db_exec(id, text) {
    const lines = text.split("\n").map((line) => queryJSON(line, []));
    const all = await d1(id, "/execute", `[${lines}]`);
    return { count: all.length, duration: all.reduce((sum, { meta }) => sum + meta.duration, 0) };
  },
  db_bookmark(id) {
    const { wire, name } = bound.get(id);
    return wire.bookmark(name);
  },

  async kv_get(id, key, type, cacheTtl, withMetadata) {
    if (Array.isArray(key)) return kvBulk(id, key, type, cacheTtl, withMetadata);
    if (!["text", "json", "arrayBuffer", "stream"].includes(type))
      throw new TypeError('Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".');
    checkKey(key);
    const answer = await call(id, "kv", {
      method: "GET",
      path: kvPath(key, { cache_ttl: cacheTtl }),
    });
    const value = answer.status === 404 ? await answer.bytes().then(() => null) : await kvValue(answer, type);
    if (!withMetadata) return value;
    const metadata = answer.headers["cf-kv-metadata"];
    return { value, metadata: metadata === undefined ? null : JSON.parse(utf8(metadata)), cacheStatus: null };
  },
  kv_receive() {
    return keep({ pieces: [], size: 0 });
  },
  kv_received(handle, bytes) {
    const held = take(handle);
    held.size += bytes.byteLength;
    if (held.size > LARGEST)
      throw new Error(`KV PUT failed: 413 Value length of ${held.size} exceeds limit of ${LARGEST}.`);
    held.pieces.push(bytes.slice());
  },
  async kv_put(id, key, value, expiration, expirationTtl, metadata, handle) {
    checkKey(key);
    const body = handle === undefined ? bytesOf(value) : take(handle).pieces;
    const headers = metadata === undefined ? {} : { "cf-kv-metadata": latin1(metadata) };
    const query = { expiration, expiration_ttl: expirationTtl };
    await (await call(id, "kv", { method: "PUT", path: kvPath(key, query), headers, body })).bytes();
  },
  async kv_list(id, prefix, limit, cursor) {
    const query = parameters({
      key_count_limit: limit === 0 ? undefined : limit,
      prefix: prefix === "" ? undefined : prefix,
      cursor: cursor === "" ? undefined : cursor,
    });
    const found = JSON.parse(await (await call(id, "kv", { method: "GET", path: `/?${query}` })).text());
    for (const key of found.keys) if (key.metadata !== undefined) key.metadata = JSON.parse(key.metadata);
    return found;
  },
  async kv_delete(id, key) {
    checkKey(key);
    await (await call(id, "kv", { method: "DELETE", path: kvPath(key) })).bytes();
  },

  async r2_head(id, key) {
    const answer = await r2Get(id, { method: "head", object: key });
    const missing = refused(answer) === NO_KEY;
    const found = await whole(answer);
    return missing ? null : objectOf(found);
  },
  async r2_get(id, key, json) {
    const { onlyIf: condition, range } = JSON.parse(json);
    const answer = await r2Get(id, {
      method: "get",
      object: key,
      onlyIf: onlyIf(condition),
      ...(range?.header === undefined ? { range: spanOf(range) } : { rangeHeader: range.header }),
    });
    const code = refused(answer);
    const found = await metadataOf(answer);
    if (code !== 0) {
      await answer.bytes();
      return code === NO_KEY ? null : { object: objectOf(found), body: null };
    }
    return { object: objectOf(found), body: await bodyOf(answer) };
  },
  async r2_put(id, key, content, json) {
    const to = target(key, json);
    return storedOf(await r2Put(id, to, bytesOf(content)), to);
  },
  r2_put_begin(id, key, json) {
    const to = target(key, json);
    const head = Buffer.from(JSON.stringify({ version, ...to }));
    const { wire, name } = bound.get(id);
    const upload = wire.upload({
      binding: `r2/${name}`,
      method: "PUT",
      path: "/",
      headers: { [r2Size]: `${head.length}` },
    });
    upload.target = to;
    upload.write(head).catch(() => {}); // commit reports the error
    return keep(upload);
  },
  r2_put_chunk(handle, bytes) {
    return take(handle).write(bytes);
  },
  async r2_put_commit(handle) {
    const upload = take(handle);
    return storedOf(await upload.commit(), upload.target);
  },
  r2_put_abort(handle) {
    open.get(handle)?.abort();
    open.delete(handle);
  },
  async r2_delete(id, objects) {
    await (await r2Put(id, { method: "delete", objects })).bytes();
  },
  async r2_list(id, given) {
    const { include, ...rest } = typeof given === "string" ? JSON.parse(given) : given;
    const fields = include?.map((field) => (field === "httpMetadata" ? 0 : 1));
    const found = await whole(await r2Get(id, { method: "list", ...rest, include: fields }));
    const { objects, delimitedPrefixes, truncated, cursor } = found;
    const listing = { objects: objects.map(objectOf), truncated };
    if (cursor !== undefined) listing.cursor = cursor;
    listing.delimitedPrefixes = delimitedPrefixes;
    return listing;
  },
  async r2_mpu_create(id, key, json) {
    const request = { method: "createMultipartUpload", object: key, ...described(JSON.parse(json)) };
    return (await whole(await r2Put(id, request))).uploadId;
  },
  async r2_mpu_complete(id, key, uploadId, json) {
    const parts = JSON.parse(json).map(({ partNumber, etag }) => ({ etag, part: partNumber }));
    return objectOf(await whole(await r2Put(id, { method: "completeMultipartUpload", object: key, uploadId, parts })));
  },
  async r2_mpu_abort(id, object, uploadId) {
    await (await r2Put(id, { method: "abortMultipartUpload", object, uploadId })).bytes();
  },

  async img_info(id, bytes) {
    const form = formOf([["image", bytes]]);
    const { file_size, width, height, format } = JSON.parse(
      await (await call(id, "images", { method: "POST", path: "/info", ...form })).text(),
    );
    return width === undefined ? { format } : { fileSize: file_size, width, height, format };
  },
  async img_output(id, plan, output, inputs) {
    const { fields, images } = planOf(JSON.parse(plan), JSON.parse(output), inputs);
    const answer = await call(id, "images", { method: "POST", path: "/transform", ...formOf([...images, ...fields]) });
    const warnings = answer.headers["pages-warnings"];
    return {
      data: await answer.bytes(),
      type: answer.headers["content-type"],
      warnings: warnings === undefined ? [] : JSON.parse(warnings),
    };
  },

  async assets_fetch(id, method, url, headers) {
    const { host: name, protocol, pathname, search } = new URL(url);
    const own = {};
    for (let at = 0; at < headers.length; at += 2) own[headers[at]] = headers[at + 1];
    const answer = await call(id, "assets", {
      method,
      path: pathname + search,
      headers: { ...own, host: name, "pages-proto": protocol.slice(0, -1) },
    });
    const raw = answer.rawHeaders.filter((_, at) => !HOP.includes(answer.rawHeaders[at & ~1].toLowerCase()));
    return { status: answer.status, statusText: answer.statusText, headers: raw, body: await bodyOf(answer) };
  },

  async binding_read(handle) {
    const piece = await take(handle).read();
    if (piece === null) open.delete(handle);
    return piece;
  },
  async binding_read_all(handle) {
    const answer = take(handle);
    open.delete(handle);
    return answer.bytes();
  },
  binding_close(handle) {
    open.get(handle)?.abort?.();
    open.delete(handle);
  },
};

// Headers of the connection, not of the response.
const HOP = ["connection", "keep-alive", "transfer-encoding"];

const LARGEST = 25 << 20;

// KV's client refuses these keys before it sends a request: in a URL they would be another path.
function checkKey(key) {
  if (key === "") throw new TypeError("Key name cannot be empty.");
  if (key === "." || key === "..") throw new TypeError(`"${key}" is not allowed as a key name.`);
}

async function kvValue(answer, type) {
  if (type === "stream") {
    const size = Number(answer.headers["content-length"]);
    return { body: await bodyOf(answer), size };
  }
  const bytes = await answer.bytes();
  if (type === "arrayBuffer") return bytes;
  const text = new TextDecoder().decode(bytes);
  return type === "json" ? JSON.parse(text) : text;
}

async function kvBulk(id, keys, type, cacheTtl, withMetadata) {
  const body = JSON.stringify({
    keys,
    type,
    cacheTtl: cacheTtl === undefined ? undefined : `${cacheTtl}`,
    withMetadata,
  });
  const answer = await call(id, "kv", { method: "POST", path: "/bulk/get", body });
  const found = JSON.parse(await answer.text());
  return keys.flatMap((key) => [key, found[key] ?? null]);
}

/** A header with UTF-8, which Node.js reads as Latin-1. */
function utf8(text) {
  return `${Buffer.from(text, "latin1")}`;
}

function spanOf(range) {
  if (range === undefined) return undefined;
  const textOf = (n) => (n === undefined ? undefined : `${n}`);
  return { offset: textOf(range.offset), length: textOf(range.length), suffix: textOf(range.suffix) };
}

/** JSON as the value of a header, in UTF-8. Node.js writes each of its bytes as a character. */
function latin1(json) {
  return Buffer.from(json.replaceAll("\x7f", "\\u007f")).toString("latin1");
}

/** The plan of images.js in the form of the client of Images: a flat list of steps, and the images in their order. */
function planOf(plan, { format, quality, background, anim }, inputs) {
  const images = [["image", inputs[plan.input]]],
    transforms = [];
  let drawn = 0;
  const walk = ({ steps }, targetImageIndex) => {
    for (const step of steps) {
      if (step.draw === undefined) {
        transforms.push({ ...step.transform, imageIndex: targetImageIndex });
        continue;
      }
      const { plan: other, options } = step.draw;
      const drawImageIndex = ++drawn;
      images.push(["draw_image", inputs[other.input]]);
      walk(other, drawImageIndex);
      transforms.push({ drawImageIndex, targetImageIndex, ...options });
    }
  };
  walk(plan, 0);
  const fields = [["transforms", JSON.stringify(transforms)]];
  for (const [name, value] of Object.entries({
    output_format: format,
    output_quality: quality,
    background,
    anim,
  }))
    if (value !== undefined) fields.push([name, `${value}`]);
  return { fields, images };
}

/** A form of images and texts. */
function formOf(parts) {
  const boundary = `pages-${crypto.randomUUID()}`,
    body = [];
  for (const [name, value] of parts) {
    const file = typeof value === "string" ? "" : '; filename="image"';
    body.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`));
    body.push(bytesOf(value), Buffer.from("\r\n"));
  }
  body.push(Buffer.from(`--${boundary}--\r\n`));
  return { headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, body };
}
