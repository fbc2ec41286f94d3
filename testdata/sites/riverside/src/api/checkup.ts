import { Hono } from "hono";
import type { AppEnv } from "../env";
import { archiveKey } from "../lib/archive-key";

// What a visitor who is not signed in should get. Fewer pages than the limit on
// subrequests allows; redirects are not followed, as each hop would count.
const EXPECTED: Record<string, "open" | "guarded"> = {
  "/": "open",
  "/about": "open",
  "/fleet": "open",
  "/outings": "open",
  "/club": "guarded",
  "/minutes/": "guarded",
};

/**
 * Visits the site's own pages. With global_fetch_strictly_public the Worker
 * comes in by the front door like any stranger, so members pages stay shut.
 */
export const checkup = new Hono<AppEnv>();

checkup.get("/", archiveKey, async (c) => {
  const pages = await Promise.all(
    Object.entries(EXPECTED).map(async ([path, expected]) => {
      const { status } = await fetch(new URL(path, c.req.url), { redirect: "manual" });
      const found = status === 200 ? "open" : [302, 303, 401].includes(status) ? "guarded" : "broken";
      return { path, status, ok: found === expected };
    }),
  );
  return c.json({ ok: pages.every((page) => page.ok), pages });
});
