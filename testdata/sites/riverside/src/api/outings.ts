import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { AppContext, AppEnv } from "../env";
import { NEWS, type NewsCode } from "../lib/news";
import { comingOutings } from "../lib/outings";
import { readRower } from "../lib/rower";
import { countSignUp, signUp } from "../lib/signups";

export const outings = new Hono<AppEnv>();

outings.get("/outings", async (c) => c.json({ outings: await comingOutings(c.env.DB, new Date()) }));

outings.get("/next-outing", async (c) => {
  const [outing] = await comingOutings(c.env.DB, new Date());
  return c.json({ outing: outing ?? null });
});

outings.get("/outings/:id", async (c) => {
  const outing = await find(c);
  return outing ? c.json({ outing }) : c.json({ ok: false, error: "there is no such outing" }, 404);
});

const smallBody = bodyLimit({
  maxSize: 16 * 1024,
  onError: (c) => c.json({ ok: false, error: "a sign-up fits in 16 kB" }, 413),
});

// Accepts a guest's sign-up: JSON from the script, or a form post from a browser
// without it, which is redirected to the page with the form.
outings.post("/outings/:id/signups", smallBody, async (c) => {
  const outing = await find(c);
  if (!outing) return answer(c, 404, { ok: false, code: "unknown" });

  const input = await readInput(c);
  if (!input) return answer(c, 400, { ok: false, code: "unreadable" });
  const { rower, issues } = readRower(input);
  if (issues.length > 0) return answer(c, 400, { ok: false, code: "invalid", issues });

  const result = await signUp(c.env.DB, outing, rower);
  if (!result.ok) return answer(c, 409, { ok: false, code: result.reason });
  c.executionCtx.waitUntil(countSignUp(c.env, outing));
  return answer(c, 201, { ok: true, code: "signed-up", id: result.id, outing: { ...outing, free: result.free } });
});

async function find(c: AppContext) {
  const id = c.req.param("id");
  const all = await comingOutings(c.env.DB, new Date());
  return all.find((outing) => outing.id === id);
}

async function readInput(c: AppContext): Promise<Record<string, unknown> | undefined> {
  try {
    if (!c.req.header("content-type")?.startsWith("application/json")) {
      return Object.fromEntries(await c.req.formData());
    }
    const body: unknown = await c.req.json();
    return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

interface Answer {
  ok: boolean;
  code: NewsCode;
  [key: string]: unknown;
}

// The address has only a code, and the page has the text for it: a link cannot
// put other text on the page.
function answer(c: AppContext, status: 201 | 400 | 404 | 409, body: Answer): Response {
  if (c.req.header("accept")?.includes("text/html")) return c.redirect(`/outings?news=${body.code}#news`, 303);
  return c.json({ ...body, message: NEWS[body.code] }, status);
}
