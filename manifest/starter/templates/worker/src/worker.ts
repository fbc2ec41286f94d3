import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";

const app = new Hono<{ Bindings: Env }>();

app.get("/api/hello/:name", (c) => c.json({ message: `Hello ${c.req.param("name")}, it is ${new Date().toISOString()}.` }));

// A refusal is a response. The platform logs any other error with its place in the source, and shows an error page.
app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
});

export default app;
