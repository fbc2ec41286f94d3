import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { AppContext, AppEnv } from "../env";
import { archiveKey } from "../lib/archive-key";
import { boatOf, boats as fleet, type Boat } from "../lib/boats";

const WIDTHS = [160, 320, 480, 960];
const FORMATS = ["image/jpeg", "image/png"];
const MAX_BYTES = 5 * 1024 * 1024;

/** The fleet, and a photo of each boat in the width a page asks for. */
export const boats = new Hono<AppEnv>();

boats.get("/", (c) => c.json({ boats: fleet }));

boats.get("/:id", (c) => {
  const boat = boatOf(c.req.param("id"));
  return boat ? c.json({ boat }) : unknownBoat(c);
});

boats.get("/:id/photo", async (c) => {
  const boat = boatOf(c.req.param("id"));
  if (!boat) return unknownBoat(c);
  const width = Number(c.req.query("width") ?? 480);
  if (!WIDTHS.includes(width)) return c.json({ ok: false, error: `width is one of ${WIDTHS.join(", ")}` }, 400);

  const photo = await photoOf(c, boat);
  if (!photo) return c.json({ ok: false, error: "this boat has no photo yet" }, 404);
  const etag = `"${photo.version}-${width}"`;
  const headers = { etag, "cache-control": "public, max-age=3600" };
  if (c.req.header("if-none-match") === etag) {
    await photo.body.cancel();
    return c.body(null, 304, headers);
  }
  const resized = await c.env.IMAGES.input(photo.body)
    .transform({ width, fit: "scale-down" })
    .output({ format: "image/jpeg", quality: 82 });
  return new Response(resized.response().body, { headers: { ...headers, "content-type": resized.contentType() } });
});

const photoSized = bodyLimit({
  maxSize: MAX_BYTES,
  onError: (c) => c.json({ ok: false, error: `a photo is at most ${MAX_BYTES} bytes` }, 413),
});

// Replaces the photo from the site's files until it is deleted.
boats.put("/:id/photo", archiveKey, photoSized, async (c) => {
  const boat = boatOf(c.req.param("id"));
  if (!boat) return unknownBoat(c);
  const bytes = await c.req.arrayBuffer();
  const info = await c.env.IMAGES.info(streamOf(bytes)).catch(() => null);
  if (!info || !("width" in info) || !FORMATS.includes(info.format)) {
    return c.json({ ok: false, error: "a photo is a JPEG or a PNG" }, 415);
  }
  await c.env.BUCKET.put(keyOf(boat), bytes, {
    httpMetadata: { contentType: info.format },
    customMetadata: { width: String(info.width), height: String(info.height) },
  });
  return c.json({ ok: true, format: info.format, width: info.width, height: info.height }, 201);
});

boats.delete("/:id/photo", archiveKey, async (c) => {
  const boat = boatOf(c.req.param("id"));
  if (!boat) return unknownBoat(c);
  await c.env.BUCKET.delete(keyOf(boat));
  return c.body(null, 204);
});

interface Photo {
  body: ReadableStream<Uint8Array>;
  version: string;
}

// The uploaded photo, or the one from the site's files.
async function photoOf(c: AppContext, boat: Boat): Promise<Photo | undefined> {
  const stored = await c.env.BUCKET.get(keyOf(boat));
  if (stored) return { body: stored.body, version: stored.etag };
  const shipped = await c.env.ASSETS.fetch(new URL(`/img/boats/${boat.id}.jpg`, c.req.url));
  if (!shipped.ok || !shipped.body) return undefined;
  const version = (shipped.headers.get("etag") ?? "shipped").replace(/^W\/|"/g, "");
  return { body: shipped.body, version };
}

function keyOf(boat: Boat): string {
  return `boats/${boat.id}`;
}

function streamOf(bytes: ArrayBuffer): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream();
}

function unknownBoat(c: AppContext): Response {
  return c.json({ ok: false, error: `the fleet is ${fleet.map((boat) => boat.id).join(", ")}` }, 404);
}
