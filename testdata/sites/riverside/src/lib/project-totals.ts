// The project database is shared by all sites of the project and starts empty:
// this site brings its one table along and leaves other sites' rows alone.

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

/** Every site's total; none while no site has counted anything yet. */
export async function projectTotals(db: D1Database): Promise<SiteTotal[]> {
  const table = await db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'club_totals'").first();
  if (!table) return [];
  const { results } = await db.prepare("SELECT site, signups FROM club_totals ORDER BY site").all<SiteTotal>();
  return results;
}
