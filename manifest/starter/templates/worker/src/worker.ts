import { Hono } from "hono";

const app = new Hono<{ Bindings: Env }>();

app.get("/api/hello/:name", (c) => c.json({ message: `Hello ${c.req.param("name")}, it is ${new Date().toISOString()}.` }));

export default app;
