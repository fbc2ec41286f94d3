const PAGE = 200;

type Row = [outing: string, day: string, name: string, email: string, note: string];

/** Every sign-up as CSV, read page by page while it is sent. */
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

// A cell that a spreadsheet would take for a formula is led by an apostrophe.
function quoted(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
