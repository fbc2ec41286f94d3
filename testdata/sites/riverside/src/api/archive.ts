import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { AppContext, AppEnv } from "../env";
import { archiveKey } from "../lib/archive-key";

const FOLDER = "archive/";
const NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/;
const MAX_BYTES = 5 * 1024 * 1024;

/** Race-day results and photographs, for clients with the archive key. */
export const archive = new Hono<AppEnv>();

archive.use(archiveKey);

archive.get("/", async (c) => {
  const page = await c.env.BUCKET.list({ prefix: FOLDER, cursor: c.req.query("cursor"), limit: 100 });
  return c.json({
    objects: page.objects.map((o) => ({ name: o.key.slice(FOLDER.length), size: o.size, etag: o.etag, uploaded: o.uploaded })),
    cursor: page.truncated ? page.cursor : null,
  });
});

archive.put("/:name", async (c) => {
  const key = keyOf(c);
  const length = Number(c.req.header("content-length") ?? NaN);
  if (!Number.isInteger(length)) return c.json({ ok: false, error: "send a content-length" }, 411);
  if (length > MAX_BYTES) return c.json({ ok: false, error: `an object is at most ${MAX_BYTES} bytes` }, 413);
  const object = await c.env.BUCKET.put(key, c.req.raw.body ?? "", {
    httpMetadata: { contentType: c.req.header("content-type") ?? "application/octet-stream" },
    customMetadata: { via: "api" },
  });
  return c.json({ ok: true, name: key.slice(FOLDER.length), size: object.size, etag: object.etag }, 201);
});

// Supports Range and the If- headers, and streams the body.
archive.get("/:name", async (c) => {
  const conditions = c.req.raw.headers;
  const object = await c.env.BUCKET.get(keyOf(c), { onlyIf: conditions, range: conditions }).catch(orOutOfRange);
  if (object === OUT_OF_RANGE) return c.json({ ok: false, error: "the object has no such bytes" }, 416);
  if (!object) return c.json({ ok: false, error: "nothing is kept under that name" }, 404);

  const headers = new Headers({ "content-disposition": "attachment", "x-content-type-options": "nosniff" });
  object.writeHttpMetadata(headers);
  headers.set("etag", object.httpEtag);
  headers.set("accept-ranges", "bytes");
  if (!("body" in object)) return new Response(null, { status: c.req.header("if-none-match") ? 304 : 412, headers });

  const part = partOf(object);
  if (!part || part.last - part.first + 1 === object.size) return new Response(object.body, { headers });
  headers.set("content-range", `bytes ${part.first}-${part.last}/${object.size}`);
  return new Response(object.body, { status: 206, headers });
});

archive.delete("/:name", async (c) => {
  await c.env.BUCKET.delete(keyOf(c));
  return c.body(null, 204);
});

function keyOf(c: AppContext): string {
  const name = c.req.param("name") ?? "";
  if (!NAME.test(name)) {
    const error = "a name is up to 80 lower-case letters, digits, dots, dashes and underscores";
    throw new HTTPException(400, { res: c.json({ ok: false, error }, 400) });
  }
  return FOLDER + name;
}

const OUT_OF_RANGE = Symbol("out of range");

// Storage throws error 10039 for a range beyond the end of the object.
function orOutOfRange(error: unknown): typeof OUT_OF_RANGE {
  if (error instanceof Error && error.message.includes("(10039)")) return OUT_OF_RANGE;
  throw error;
}

function partOf(object: R2ObjectBody): { first: number; last: number } | undefined {
  const range: { offset?: number; length?: number; suffix?: number } | undefined = object.range;
  if (!range) return undefined;
  const end = object.size - 1;
  if (range.suffix !== undefined) return { first: Math.max(0, object.size - range.suffix), last: end };
  const first = range.offset ?? 0;
  return { first, last: range.length === undefined ? end : Math.min(end, first + range.length - 1) };
}
