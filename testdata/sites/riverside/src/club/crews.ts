/** A crew with its seats, from bow to cox. */
export interface Crew {
  id: string;
  name: string;
  squad: string;
  captain: string;
  seats: { seat: string; rower: string }[];
}

interface SeatRow {
  id: string;
  name: string;
  squad: string;
  captain: string;
  seat: number;
  rower: string;
}

export async function readCrews(db: D1Database): Promise<Crew[]> {
  const { results } = await db
    .prepare(
      `SELECT c.id, c.name, c.squad, c.captain, s.seat, s.rower
       FROM crews AS c JOIN seats AS s ON s.crew_id = c.id
       ORDER BY c.name, s.seat = 0, s.seat`,
    )
    .all<SeatRow>();
  const crews = new Map<string, Crew>();
  for (const { id, name, squad, captain, seat, rower } of results) {
    const crew = crews.get(id) ?? { id, name, squad, captain, seats: [] };
    crew.seats.push({ seat: seatName(seat), rower });
    crews.set(id, crew);
  }
  return [...crews.values()];
}

function seatName(seat: number): string {
  if (seat === 0) return "Cox";
  return seat === 1 ? "Bow" : String(seat);
}
