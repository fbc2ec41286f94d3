import type { AppContext } from "../env";

/** Responds 404: the site's own page to a browser, JSON to other clients. */
export async function notFound(c: AppContext): Promise<Response> {
  if (!c.req.header("accept")?.includes("text/html")) {
    return c.json({ ok: false, error: `nothing lives at ${c.req.path}` }, 404);
  }
  const page = await c.env.ASSETS.fetch(new URL("/404", c.req.url));
  return new Response(page.body, { status: 404, headers: { "content-type": "text/html; charset=utf-8" } });
}
