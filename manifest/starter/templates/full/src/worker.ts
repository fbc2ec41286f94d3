import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { photo } from "./photo";

interface Note {
  id: number;
  body: string;
  author: string;
  created_at: string;
}

const app = new Hono<{ Bindings: Env }>();

app.get("/api/notes", async (c) => {
  const cached = await c.env.KV.get("notes");
  if (cached !== null) return c.body(cached, 200, { "content-type": "application/json" });
  const { results } = await c.env.DB.prepare("SELECT id, body, author, created_at FROM notes ORDER BY id DESC LIMIT 50").all<Note>();
  const text = JSON.stringify({ notes: results });
  await c.env.KV.put("notes", text, { expirationTtl: 300 });
  return c.body(text, 200, { "content-type": "application/json" });
});

// The answers to the contact form, for clients with the key.
app.get("/api/enquiries", async (c) => {
  const key = c.env.EXPORT_KEY;
  if (!key || c.req.header("authorization") !== `Bearer ${key}`) return c.json({ error: "a key is needed" }, 401);
  const { results } = await c.env.DB.prepare("SELECT name, email, message, created_at FROM enquiries ORDER BY id").all();
  return c.json({ enquiries: results });
});

// Only members reach this route: the platform checks before any code runs.
app.post("/club/notes", async (c) => {
  const { body } = await c.req.parseBody();
  if (typeof body !== "string" || !body.trim() || body.length > 500) return c.text("A note has 1 to 500 characters.", 422);
  const author = c.req.header("x-pages-member-name") ?? "a member";
  await c.env.DB.prepare("INSERT INTO notes (body, author) VALUES (?, ?)").bind(body.trim(), author).run();
  await c.env.KV.delete("notes");
  return c.redirect("/", 303);
});

app.route("/", photo);

// An HTTPException has its own response. Any other error goes to the platform, which logs its place
// in the source and shows a page about it.
app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
});

export default app;
