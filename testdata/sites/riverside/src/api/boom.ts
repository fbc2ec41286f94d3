import { Hono } from "hono";
import type { AppEnv } from "../env";

/** A fault on purpose, to see how one is reported: GET /api/boom. */
export const boom = new Hono<AppEnv>();

boom.get("/", (c) => c.json({ rate: strokeRate([]) }));

function strokeRate(strokes: { at: number }[]): number {
  const last = strokes[strokes.length - 1]!;
  return strokes.length / last.at;
}
