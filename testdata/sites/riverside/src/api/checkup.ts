import { Hono } from "hono";
import type { AppEnv } from "../env";
import { archiveKey } from "../lib/archive-key";

// The expected status for a visitor who is not signed in. The number of pages is
// below limits.subRequests. Redirects are not followed: each hop would count.
const EXPECTED: Record<string, "open" | "guarded"> = {
  "/": "open",
  "/about": "open",
  "/fleet": "open",
  "/outings": "open",
  "/club": "guarded",
  "/minutes/": "guarded",
};

/**
 * Visits the site's own pages. With global_fetch_strictly_public, requests of the
 * Worker pass the gate like those of any visitor, so members pages stay closed.
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
