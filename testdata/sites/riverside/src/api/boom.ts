import { Hono } from "hono";
import type { AppEnv } from "../env";

/** Throws on purpose, to show the report of an error: GET /api/boom. */
export const boom = new Hono<AppEnv>();

boom.get("/", (c) => c.json({ rate: strokeRate([]) }));

function strokeRate(strokes: { at: number }[]): number {
  const last = strokes[strokes.length - 1]!;
  return strokes.length / last.at;
}
