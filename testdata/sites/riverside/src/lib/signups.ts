import type { Env } from "../env";
import { addToProjectTotals } from "./project-totals";
import type { Outing } from "./outings";

/** The person who takes a place. A guest has no memberId. */
export interface Rower {
  name: string;
  email: string;
  note: string;
  memberId?: string;
}

export type SignUp =
  | { ok: true; id: string; free: number }
  | { ok: false; reason: "full" | "already-in" };

/**
 * Takes one place. The insert and the count after it are one transaction. If two
 * people want the last seat, the table's constraints refuse the second.
 */
export async function signUp(db: D1Database, outing: Outing, rower: Rower): Promise<SignUp> {
  const id = crypto.randomUUID();
  try {
    const [, count] = await db.batch<{ taken: number }>([
      db
        .prepare("INSERT INTO signups (id, outing_id, day, name, email, note, member_id) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(id, outing.id, outing.day, rower.name, rower.email, rower.note, rower.memberId ?? null),
      db.prepare("SELECT count(*) AS taken FROM signups WHERE outing_id = ? AND day = ?").bind(outing.id, outing.day),
    ]);
    return { ok: true, id, free: outing.places - (count!.results[0]?.taken ?? 0) };
  } catch (error) {
    const reason = refusal(error);
    if (!reason) throw error;
    return { ok: false, reason };
  }
}

function refusal(error: unknown): "full" | "already-in" | undefined {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("the boat is full")) return "full";
  if (message.includes("UNIQUE constraint failed: signups")) return "already-in";
  return undefined;
}

/**
 * Counts a sign-up for all sites of the project. It runs after the response, so
 * visitors do not wait for it. Two counts at the same time may count as one in
 * KV; the table is exact.
 */
export async function countSignUp(env: Env, outing: Outing): Promise<void> {
  const key = `signups:${outing.day.slice(0, 7)}`;
  const before = Number((await env.KV.get(key)) ?? 0);
  await Promise.all([env.KV.put(key, String(before + 1)), addToProjectTotals(env.PROJECT_DB)]);
}
