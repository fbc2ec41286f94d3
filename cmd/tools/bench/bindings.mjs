// The Worker whose bindings are measured: each route is one call from Worker
// code, or a page of a list.
import { Hono } from "hono";

const app = new Hono();
const MB = 1 << 20;
const bytes = new Uint8Array(MB).map((_, at) => at * 31 + (at >> 8));
const value = "a value of a hundred bytes, of the kind that a session or a flag has; ".padEnd(100, ".");
const SELECT = "SELECT id, name, n FROM rows WHERE id = ?",
  INSERT = "INSERT INTO made (name, n) VALUES (?, ?)";

let count = 0;
const next = () => count++;

app.get("/api/hello", (c) => c.json({ hello: "world", version: 0 }));

app.get("/api/setup", async (c) => {
  const { DB, KV, BUCKET } = c.env;
  await DB.exec(
    "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n REAL NOT NULL)\n" +
      "CREATE TABLE IF NOT EXISTS made (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n REAL NOT NULL)",
  );
  const row = DB.prepare("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)");
  await DB.batch(Array.from({ length: 1000 }, (_, at) => row.bind(at + 1, `row ${at + 1}`, at / 4)));
  await KV.put("key", value);
  await BUCKET.put("object", bytes);
  return c.text("ready");
});

app.get("/api/select", async (c) =>
  c.json(
    await c.env.DB.prepare(SELECT)
      .bind((next() % 1000) + 1)
      .first(),
  ),
);
app.get("/api/insert", async (c) =>
  c.json((await c.env.DB.prepare(INSERT).bind("made", next()).run()).meta.last_row_id),
);
app.get("/api/batch", async (c) => {
  const insert = c.env.DB.prepare(INSERT);
  return c.json((await c.env.DB.batch(Array.from({ length: 50 }, () => insert.bind("made", next())))).length);
});
app.get("/api/loop", async (c) => {
  let sum = 0;
  for (let id = 1; id <= 1000; id++) sum += (await c.env.DB.prepare(SELECT).bind(id).first()).n;
  return c.json(sum);
});

app.get("/api/kv/get", async (c) => c.text(await c.env.KV.get("key")));
app.get("/api/kv/put", async (c) => {
  await c.env.KV.put(`key ${next() % 1000}`, value);
  return c.text("put");
});

app.get("/api/storage/put", async (c) => c.json((await c.env.BUCKET.put(`object ${next() % 16}`, bytes)).size));
app.get("/api/storage/get", async (c) => c.json((await (await c.env.BUCKET.get("object")).arrayBuffer()).byteLength));

// Copies of one object: the bytes are on disk once here, and each key has its own row.
app.get("/api/storage/fill", async (c) => {
  const from = Number(c.req.query("from"));
  for (let at = from; at < from + 20; at++) await c.env.BUCKET.put(`listed/${String(at).padStart(8, "0")}`, bytes);
  return c.text("filled");
});

// A page of a list: the number of entries, their bytes, and the cursor for the next page.
app.get("/api/kv/list", async (c) => {
  const { keys, cursor = "" } = await c.env.KV.list({ prefix: "listed/", cursor: c.req.query("cursor") || undefined });
  return c.json({ count: keys.length, size: 0, cursor });
});
app.get("/api/storage/list", async (c) => {
  const { objects, cursor = "" } = await c.env.BUCKET.list({
    prefix: "listed/",
    cursor: c.req.query("cursor") || undefined,
  });
  return c.json({ count: objects.length, size: objects.reduce((sum, o) => sum + o.size, 0), cursor });
});

export default app;
