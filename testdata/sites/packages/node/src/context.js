import { Hono } from "hono";
import { contextStorage, getContext } from "hono/context-storage";

// Functions called deep in the code, without the context as an argument.
async function greeting() {
  await new Promise((resolve) => setTimeout(resolve, 1));
  return `Hello, ${getContext().get("message")}`;
}

const app = new Hono();
app.use(contextStorage());
app.use(async (c, next) => {
  c.set("message", c.req.query("name"));
  await next();
});
app.get("/context", async (c) => c.text(await greeting()));

/** https://hono.dev/docs/middleware/builtin/context-storage, with two requests under way at once */
export async function context() {
  const ask = async (name) => (await app.request(`/context?name=${name}`)).text();
  return { answers: await Promise.all(["a", "b"].map(ask)) };
}
