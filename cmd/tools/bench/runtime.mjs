import { Hono } from "hono";
import { natives, run } from "./native.mjs";
import { pures } from "./pure.mjs";

const app = new Hono();
app.get("/api/hello", (c) => c.json({ hello: "world", version: 0 }));
app.get("/api/native", async (c) => c.json(await run(natives, c.req.query("name"))));
app.get("/api/pure", async (c) => c.json(await run(pures, c.req.query("name"))));
app.get("/api/wait", async (c) => {
  await new Promise((done) => setTimeout(done, 1000));
  return c.text("waited");
});
app.get("/api/stream", (c) => {
  const piece = new Uint8Array(1 << 16);
  let left = Number(c.req.query("bytes"));
  return new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(piece.slice(0, Math.min(left, piece.length)));
        if ((left -= piece.length) <= 0) controller.close();
      },
    }),
  );
});

export default app;
