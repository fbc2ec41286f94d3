// The post of a form as a row of the site's own table, by the rules of devserver/formrow: an input left empty keeps the column's
// default, or is NULL if the column is not text, refers to another table, is unique or refuses an empty text; times have the form of the
// column's own default; no visitor chooses a key, or a column that the form does not ask for.

/**
 * The answers of a lead that may not fill a column: "asked" has the names of the form's fields, in lower case; it is missing if no page
 * has the form.
 */
export function unaskedOf(fields, asked, declared) {
  if (!asked && declared) return [];
  return Object.keys(fields).filter((name) => !asked?.includes(name.toLowerCase()));
}

/** Writes the row of a lead. "unasked" names answers for no column; "unseen" says that no page shows the form. */
export async function writeRow(db, table, lead, text, { unasked, unseen }) {
  const described = await describe(db, table);
  const row = await rowOf(db, described, lead, text, new Set(unasked.map((name) => name.toLowerCase())), unseen);
  const insert = () => insertRow(db, table, row);
  const empty = row.filter((cell) => cell.empty);
  let first;
  let last;
  try {
    return await insert();
  } catch (error) {
    first = last = error;
  }
  for (const cell of empty) {
    if (!isRefusal(last)) throw last;
    const before = cell.value;
    cell.value = null;
    try {
      return await insert();
    } catch (error) {
      if (error.message === last.message) cell.value = before; // another column is at fault
      last = error;
    }
  }
  if (empty.length < 2 || !isRefusal(last)) throw first;
  for (const cell of empty) cell.value = null;
  try {
    return await insert();
  } catch {
    throw first;
  }
}

const isRefusal = (error) => /constraint/i.test(error.message);
const quote = (name) => `"${name.replaceAll('"', '""')}"`;

async function insertRow(db, table, row) {
  const names = row.map((cell) => quote(cell.column.name)).join(", ");
  const sql = row.length
    ? `INSERT INTO ${quote(table)} (${names}) VALUES (${row.map(() => "?").join(", ")})`
    : `INSERT INTO ${quote(table)} DEFAULT VALUES`;
  await db
    .prepare(sql)
    .bind(...row.map((cell) => cell.value))
    .run();
}

async function describe(db, name) {
  const all = async (sql) => (await db.prepare(sql).bind(name).all()).results;
  const found = await all(
    "SELECT name, upper(type) AS kind, dflt_value AS standard, pk, hidden FROM pragma_table_xinfo(?)",
  );
  if (found.length === 0) throw new Error(`no such table: "${name}"`);
  const [about] = await all("SELECT strict FROM pragma_table_list WHERE schema = 'main' AND lower(name) = lower(?)");
  const bare = [
    ...(await all('SELECT "from" AS name FROM pragma_foreign_key_list(?)')),
    ...(await all(
      'SELECT i.name AS name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE l."unique" AND i.name IS NOT NULL',
    )),
  ].map((one) => one.name.toLowerCase());
  const keys = found.filter((column) => column.pk);
  const columns = new Map();
  for (const column of found) {
    if (column.hidden) continue;
    const standard = /^null$/i.test(column.standard ?? "") ? "" : (column.standard ?? "");
    columns.set(column.name.toLowerCase(), {
      ...column,
      standard,
      affinity: affinityOf(column.kind),
      rowid: column.pk > 0 && column.kind === "INTEGER",
      soleKey: column.pk > 0 && keys.length === 1,
      bare: bare.includes(column.name.toLowerCase()),
    });
  }
  return { strict: Boolean(about?.strict), columns };
}

/** A column's preference for a type of values (sqlite.org/datatype3.html, section 3.1). */
function affinityOf(kind) {
  if (/INT/.test(kind)) return "integer";
  if (/CHAR|CLOB|TEXT/.test(kind)) return "text";
  if (kind === "" || /BLOB/.test(kind)) return "blob";
  return /REAL|FLOA|DOUB/.test(kind) ? "real" : "numeric";
}

/** Matches a lead with columns. The platform's own values come last, so that no answer replaces them. */
async function rowOf(db, { strict, columns }, lead, text, unasked, unseen) {
  const isText = (column) => column.affinity === "text" || column.kind === "" || (strict && column.kind === "ANY");
  const stored = (column, value) =>
    typeof value === "string" && strict && column.kind === "BLOB" ? new TextEncoder().encode(value) : value;
  const cells = new Map();
  for (const [name, value] of Object.entries(lead.fields)) {
    const key = name.toLowerCase();
    const column = columns.get(key);
    if (!column || unasked.has(key) || column.rowid || (column.pk && unseen)) continue;
    const cell = answer(column, value, isText(column), stored);
    if (cell) cells.set(key, { column, ...cell });
  }
  const asked = cells.has("data");
  const put = (key, value) => {
    const column = columns.get(key);
    if (column && !column.rowid) cells.set(key, { column, value: stored(column, value) });
  };
  put("form", lead.form);
  put("lead_id", lead.id);
  put("fields", text);
  if (!asked) put("data", text);
  if (columns.has("created_at")) {
    cells.delete("created_at");
    const value = await timeOf(db, columns.get("created_at"), Date.parse(lead.created_at));
    if (value !== undefined) put("created_at", value);
  }
  for (const [key, column] of columns) {
    const filled = cells.has(key) || column.rowid || column.standard !== "";
    if (column.soleKey && !filled && !["integer", "real"].includes(column.affinity)) put(key, lead.id);
  }
  return [...cells.keys()].sort().map((key) => cells.get(key));
}

const TRUTHS = new Map([
  ["on", 1],
  ["true", 1],
  ["off", 0],
  ["false", 0],
]);

/** An answer as a value for a column; undefined to keep the column's default. */
function answer(column, value, isText, stored) {
  const empty = value === null || value === "" || (typeof value === "string" && !isText && value.trim() === "");
  if (empty) {
    if (column.standard !== "") return undefined;
    if (value === null || column.bare || !isText) return { value: null };
    return { value: stored(column, ""), empty: true };
  }
  if (typeof value === "string") {
    const number = !isText && column.affinity !== "blob" ? TRUTHS.get(value) : undefined;
    return { value: number ?? stored(column, value) };
  }
  if (typeof value === "boolean")
    return {
      value: column.affinity === "text" ? String(value) : Number(value),
    };
  if (typeof value === "number") return { value: column.affinity === "text" ? String(value) : value };
  return { value: stored(column, JSON.stringify(value)) };
}

/** A time in the form of the column's default, which SQLite evaluates; undefined if that is not the current time. */
async function timeOf(db, column, at) {
  if (column.standard === "") return ["integer", "real"].includes(column.affinity) ? at : new Date(at).toISOString();
  try {
    const sql = `SELECT (julianday('now') - 2440587.5) * 86400000 AS now, (${column.standard}) AS shown`;
    const { now, shown } = await db.prepare(sql).first();
    return likewise(shown, Math.round(now), at);
  } catch {
    return undefined; // the insert reports the fault
  }
}

/** Writes a time in the format in which read shows the current time; all in milliseconds. */
function likewise(shown, now, at) {
  if (typeof shown === "number") return likeNumber(shown, Number.isInteger(shown), now, at);
  const text = String(shown);
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = likeNumber(Number(text), !text.includes("."), now, at);
    if (number !== undefined) return String(number);
  }
  const iso = (time) => new Date(time).toISOString(); // 2006-01-02T15:04:05.000Z
  const days = [(t) => iso(t).slice(0, 10), (t) => iso(t).slice(0, 10).replaceAll("-", ""), (t) => iso(t).slice(0, 7)];
  const day = days.find((form) => form(now) === text);
  if (day) return day(at);
  const digits = text.match(/^(\d{4})-?(\d\d)-?(\d\d)[ T]?(\d\d):?(\d\d)(?::?(\d\d))?(\.\d{3})?(Z|\+00:00)?$/);
  if (!digits) return undefined;
  const [, year, month, date, hour, minute, second = "00", milli = "", zone = ""] = digits;
  const read = Date.parse(`${year}-${month}-${date}T${hour}:${minute}:${second}${milli}Z`);
  const QUARTER = 900_000;
  const behind = Math.round((read - now) / QUARTER) * QUARTER; // zones differ by quarters of an hour
  if (!(Math.abs(behind) <= 14 * 4 * QUARTER && Math.abs(read - now - behind) <= 62_000)) return undefined;
  if (!text.includes("-"))
    return iso(at + behind)
      .replace(/[-T:]/g, "")
      .slice(0, 14);
  const written = iso(at + behind).replace("T", text[10]);
  const length = digits[6] === undefined ? 16 : milli ? 23 : 19;
  return written.slice(0, length) + zone;
}

/** Knows seconds, milliseconds, microseconds, and the days of SQLite's julianday. */
function likeNumber(shown, whole, now, at) {
  const SLACK = 2000;
  for (const unit of [1000, 1, 0.001]) {
    if (Math.abs(shown * unit - now) <= SLACK) return whole ? Math.floor(at / unit) : at / unit;
  }
  const DAY = 86_400_000;
  const EPOCH = 2440587.5;
  return Math.abs((shown - EPOCH) * DAY - now) <= SLACK ? at / DAY + EPOCH : undefined;
}
