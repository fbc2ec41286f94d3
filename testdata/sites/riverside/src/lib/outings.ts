import { dayOf, nextDay, startOf } from "./calendar";

interface OutingRow {
  id: string;
  title: string;
  weekday: number;
  starts: string;
  minutes: number;
  level: "learn" | "social" | "race";
  boat: string;
  crew_id: string | null;
  places: number;
  summary: string;
}

/** An outing with its next day. */
export interface Outing {
  id: string;
  title: string;
  day: string;
  starts: string;
  minutes: number;
  level: OutingRow["level"];
  boat: string;
  places: number;
  free: number;
  summary: string;
}

/** The outings of the coming week in order, with their free places. */
export async function comingOutings(db: D1Database, now: Date): Promise<Outing[]> {
  const [outings, taken] = await db.batch<OutingRow | TakenRow>([
    db.prepare("SELECT * FROM outings"),
    db
      .prepare("SELECT outing_id, day, count(*) AS taken FROM signups WHERE day >= ? GROUP BY outing_id, day")
      .bind(dayOf(now)),
  ]);
  const counts = new Map((taken!.results as TakenRow[]).map((row) => [`${row.outing_id} ${row.day}`, row.taken]));
  return (outings!.results as OutingRow[])
    .map((row) => onNextDay(row, counts, now))
    .sort((a, b) => startOf(a.day, a.starts).getTime() - startOf(b.day, b.starts).getTime());
}

interface TakenRow {
  outing_id: string;
  day: string;
  taken: number;
}

function onNextDay(row: OutingRow, counts: Map<string, number>, now: Date): Outing {
  const day = nextDay(row.weekday, row.starts, now);
  const { id, title, starts, minutes, level, boat, places, summary } = row;
  const free = Math.max(0, places - (counts.get(`${id} ${day}`) ?? 0));
  return { id, title, day, starts, minutes, level, boat, places, free, summary };
}
