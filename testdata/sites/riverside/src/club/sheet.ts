const PAGE = 200;

type Row = [outing: string, day: string, name: string, email: string, note: string];

/** All sign-ups as CSV, streamed page by page. */
export function signUpsAsCsv(db: D1Database): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let offset = 0;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(line(["outing", "day", "name", "email", "note"])));
    },
    async pull(controller) {
      const rows = await db
        .prepare("SELECT outing_id, day, name, email, note FROM signups ORDER BY day, outing_id, id LIMIT ? OFFSET ?")
        .bind(PAGE, offset)
        .raw<Row>();
      offset += rows.length;
      if (rows.length > 0) controller.enqueue(encoder.encode(rows.map(line).join("")));
      if (rows.length < PAGE) controller.close();
    },
  });
}

function line(cells: readonly string[]): string {
  return `${cells.map(quoted).join(",")}\r\n`;
}

// An apostrophe keeps a spreadsheet from running a cell as a formula.
function quoted(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
