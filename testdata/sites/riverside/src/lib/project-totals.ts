// All sites of the project share the project database, which starts empty. This
// site creates its one table, and does not change the rows of other sites.

const SITE = "riverside";

export interface SiteTotal {
  site: string;
  signups: number;
}

export async function addToProjectTotals(db: D1Database): Promise<void> {
  await db.batch([
    db.prepare("CREATE TABLE IF NOT EXISTS club_totals (site TEXT PRIMARY KEY, signups INTEGER NOT NULL) STRICT"),
    db
      .prepare("INSERT INTO club_totals (site, signups) VALUES (?, 1) ON CONFLICT (site) DO UPDATE SET signups = signups + 1")
      .bind(SITE),
  ]);
}

/** The total of every site; empty before the first count. */
export async function projectTotals(db: D1Database): Promise<SiteTotal[]> {
  const table = await db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'club_totals'").first();
  if (!table) return [];
  const { results } = await db.prepare("SELECT site, signups FROM club_totals ORDER BY site").all<SiteTotal>();
  return results;
}
