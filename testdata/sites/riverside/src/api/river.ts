import { Hono } from "hono";
import type { AppEnv } from "../env";
import { archiveKey } from "../lib/archive-key";

const FLAGS = ["green", "amber", "red"] as const;
type Flag = (typeof FLAGS)[number];

interface River {
  flag: Flag;
  note: string;
}

const CALM: River = { flag: "green", note: "Open to all crews." };
const HOLDS_FOR = 24 * 60 * 60; // seconds until the board is green again

/** The river board: a flag for the conditions on the river. */
export const river = new Hono<AppEnv>();

river.get("/", async (c) => {
  const { value, metadata } = await c.env.KV.getWithMetadata<River, { since: string }>("river", "json");
  c.header("cache-control", "no-store");
  return c.json({ ...(value ?? CALM), since: metadata?.since ?? null });
});

river.put("/", archiveKey, async (c) => {
  const body = await c.req.json<Partial<River>>().catch(() => null);
  if (!body || !FLAGS.includes(body.flag as Flag) || typeof body.note !== "string" || body.note.length > 200) {
    return c.json({ ok: false, error: `send a flag (${FLAGS.join(", ")}) and a note of up to 200 characters` }, 400);
  }
  const board: River = { flag: body.flag as Flag, note: body.note };
  await c.env.KV.put("river", JSON.stringify(board), {
    expirationTtl: HOLDS_FOR,
    metadata: { since: new Date().toISOString() },
  });
  return c.json({ ok: true, ...board });
});

river.delete("/", archiveKey, async (c) => {
  await c.env.KV.delete("river");
  return c.body(null, 204);
});
