import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";

const app = new Hono<{ Bindings: Env }>();

app.get("/api/hello/:name", (c) => c.json({ message: `Hello ${c.req.param("name")}, it is ${new Date().toISOString()}.` }));

// An HTTPException has its own response. Any other error goes to the platform, which logs its place
// in the source and shows a page about it.
app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
});

export default app;
