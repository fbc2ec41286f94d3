import { Hono } from "hono";

const NAME = "photo-of-the-week";
const MOST = 5_000_000; // bytes

/** The photo of the week: members hang it, everybody sees it, 640 pixels wide. */
export const photo = new Hono<{ Bindings: Env }>();

photo.post("/club/photo", async (c) => {
  const { photo: file } = await c.req.parseBody();
  if (!(file instanceof File) || file.size > MOST) return c.text("Send a photo of up to 5 MB.", 422);
  try {
    const small = await c.env.IMAGES.input(file.stream()).transform({ width: 640, fit: "scale-down" }).output({ format: "image/jpeg", quality: 80 });
    await c.env.BUCKET.put(NAME, await small.response().arrayBuffer(), { httpMetadata: { contentType: "image/jpeg" } });
  } catch {
    return c.text("That file is not a photo.", 422);
  }
  return c.redirect("/", 303);
});

photo.get("/api/photo", async (c) => {
  const object = await c.env.BUCKET.get(NAME);
  if (!object) return c.text("No photo hangs there yet.", 404);
  const headers = new Headers({ etag: object.httpEtag, "cache-control": "no-cache" });
  object.writeHttpMetadata(headers);
  return new Response(object.body, { headers });
});
