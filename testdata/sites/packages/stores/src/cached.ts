import { Hono } from "hono";
import { cache } from "hono/cache";
import type { Env } from "./worker.ts";

let runs = 0;
const app = new Hono<{ Bindings: Env }>();
app.get("/once/*", cache({ cacheName: "pages", cacheControl: "max-age=3600" }));
app.get("/once/:id", async (c) => c.json({ id: c.req.param("id"), run: ++runs, text: await c.env.KV.get("cached") }));
app.get("/never/:id", (c) => c.json(++runs));

export async function cached(_request: Request, env: Env, ctx: ExecutionContext): Promise<unknown> {
  const id = crypto.randomUUID();
  const get = async (path: string) => {
    const pending: Promise<unknown>[] = [];
    const answer = await app.request(`https://example.com${path}`, {}, env, { waitUntil: (p: Promise<unknown>) => { pending.push(p); ctx.waitUntil(p); }, passThroughOnException() {}, props: {} } as ExecutionContext);
    const text = (await answer.text()).replace(id, "…");
    await Promise.all(pending);
    return [answer.headers.get("cache-control"), text];
  };
  await env.KV.put("cached", "first");
  const first = await get(`/once/${id}`);
  await env.KV.put("cached", "second");
  const again = await get(`/once/${id}`);
  const other = await get(`/once/${id}?other`);
  return { first, again, other, never: [await get("/never/1"), await get("/never/1")] };
}
