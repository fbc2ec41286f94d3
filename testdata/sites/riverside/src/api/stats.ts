import { Hono } from "hono";
import type { AppEnv } from "../env";
import { projectTotals } from "../lib/project-totals";
import season from "../queries/season.sql";

interface LevelRow {
  level: string;
  outings: number;
  signups: number;
}

/** The season in figures: from the site's tables, from KV and from the project. */
export const stats = new Hono<AppEnv>();

stats.get("/", async (c) => {
  const [levels, months, sites] = await Promise.all([
    c.env.DB.prepare(season).all<LevelRow>(),
    signUpsByMonth(c.env.KV),
    projectTotals(c.env.PROJECT_DB),
  ]);
  return c.json({ levels: levels.results, months, sites });
});

async function signUpsByMonth(kv: KVNamespace): Promise<Record<string, number>> {
  const { keys } = await kv.list({ prefix: "signups:", limit: 24 });
  const counts = await Promise.all(keys.map(async ({ name }) => Number(await kv.get(name))));
  return Object.fromEntries(keys.map(({ name }, i) => [name.slice("signups:".length), counts[i]!]));
}
