import { getAssetFromKV, MethodNotAllowedError, NotFoundError, serveSinglePageApp } from "@cloudflare/kv-asset-handler";
import type { Env } from "./worker.ts";

// Files of a site are values of a namespace, under names that a manifest has by path.
export async function assets(_request: Request, env: Env, ctx: ExecutionContext): Promise<unknown> {
  const manifest = { "index.html": "index.1a.html", "docs/index.html": "docs.2b.html", "logo.png": "logo.3c.png" };
  await env.KV.put("index.1a.html", "<h1>home</h1>");
  await env.KV.put("docs.2b.html", "<h1>docs</h1>");
  await env.KV.put("logo.3c.png", new Uint8Array([137, 80, 78, 71]));
  const get = async (path: string, init: RequestInit = {}, more = {}) => {
    const pending: Promise<unknown>[] = [];
    const event = { request: new Request(`https://example.com${path}`, init), waitUntil: (p: Promise<unknown>) => { pending.push(p); ctx.waitUntil(p); } };
    try {
      const answer = await getAssetFromKV(event, { ASSET_NAMESPACE: env.KV, ASSET_MANIFEST: manifest, cacheControl: { browserTTL: 60, edgeTTL: 3600 }, ...more });
      const body = new Uint8Array(await answer.arrayBuffer());
      await Promise.all(pending);
      return [answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control"), answer.headers.get("etag"), answer.headers.get("cf-cache-status"), body.length];
    } catch (error) {
      return [error instanceof NotFoundError, error instanceof MethodNotAllowedError, (error as { status?: number }).status];
    }
  };
  return {
    home: await get("/"), docs: await get("/docs/"), logo: await get("/logo.png"), again: await get("/logo.png"),
    same: await get("/logo.png", { headers: { "if-none-match": '"logo.3c.png"' } }), head: await get("/logo.png", { method: "HEAD" }),
    app: await get("/any/place", {}, { mapRequestToAsset: serveSinglePageApp }), lost: await get("/none.css"), posted: await get("/", { method: "POST" }),
  };
}
