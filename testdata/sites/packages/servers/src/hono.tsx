/** @jsxRuntime automatic @jsxImportSource hono/jsx */
import { Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from "hono/cookie";
import { cors } from "hono/cors";
import { csrf } from "hono/csrf";
import { etag } from "hono/etag";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import { jsxRenderer } from "hono/jsx-renderer";
import { Suspense } from "hono/jsx";
import { renderToReadableStream } from "hono/jsx/streaming";
import { jwt, sign } from "hono/jwt";
import { prettyJSON } from "hono/pretty-json";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { stream, streamSSE, streamText } from "hono/streaming";
import { testClient } from "hono/testing";
import { timing, setMetric } from "hono/timing";
import { validator } from "hono/validator";

export const app = new Hono().basePath("/hono");
app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'self'"] } }));
app.use("/api/*", cors({ origin: "https://example.com", allowMethods: ["POST", "GET"], maxAge: 600, credentials: true }));
app.use("/etag", etag());
app.use("/form", csrf());
app.use("/basic", basicAuth({ username: "hono", password: "acoolproject" }));
app.use("/token", jwt({ secret: "it-is-very-secret", alg: "HS256" }));
app.use("/small", bodyLimit({ maxSize: 10, onError: (c) => c.text("overflow :(", 413) }));
app.use("/page/*", jsxRenderer(({ children, title }: { children?: unknown; title?: string }) => <html><head><title>{title}</title></head><body>{children}</body></html>));

app.get("/api/boats", (c) => c.json({ boats: ["heron"] }));
app.get("/etag", (c) => c.text("Hono is cool"));
// No middleware: the platform compresses what says that it is (https://hono.dev/docs/middleware/builtin/compress).
app.get("/large", (c) => c.text("a line of text\n".repeat(500), 200, { "content-encoding": "gzip" }));
app.post("/form", async (c) => c.json(await c.req.parseBody({ all: true, dot: true })));
app.get("/basic", (c) => c.text("You are authorized"));
app.get("/token", (c) => c.json(c.get("jwtPayload" as never)));
app.post("/small", async (c) => c.text(await c.req.text()));
app.get("/page/:name", (c) => c.render(<h1 class="a">{c.req.param("name")} &amp; {html`<b>${"<x>"}</b>`}</h1>, { title: "A page" } as never));
app.get("/sse", (c) => streamSSE(c, async (s) => {
  for (let id = 0; id < 3; id++) {
    await s.writeSSE({ data: `line ${id}\nmore`, event: "time-update", id: `${id}` });
    await s.sleep(2);
  }
}));
app.get("/text", (c) => streamText(c, async (s) => {
  await s.writeln("Hello");
  await s.sleep(1);
  await s.write("Hono!");
}));
app.get("/bytes", (c) => stream(c, async (s) => {
  await s.write(new Uint8Array([0x48, 0x65]));
  await s.pipe(new Blob(["llo"]).stream());
}));
const waiting: (() => void)[] = [];
app.post("/go-on", (c) => c.text(String(waiting.splice(0).map((go) => go()).length)));
app.get("/later", async (c) => {
  const Later = async () => {
    const beat = setInterval(() => {}, 5); // the page waits for another request
    await new Promise<void>((resolve) => waiting.push(resolve));
    clearInterval(beat);
    return <b>later</b>;
  };
  return c.body(renderToReadableStream(<html><body><Suspense fallback={<i>waiting</i>}><Later /></Suspense></body></html>), { headers: { "content-type": "text/html" } });
});
app.get("/cookies", async (c) => {
  setCookie(c, "delicious", "macha", { path: "/", secure: true, httpOnly: true, maxAge: 1000, sameSite: "Strict", prefix: "secure" });
  await setSignedCookie(c, "signed", "blueberry", "secret");
  deleteCookie(c, "old");
  return c.json({ all: getCookie(c), signed: await getSignedCookie(c, "secret", "signed") });
});
app.get("/boom", () => { throw new HTTPException(401, { message: "no entry", cause: "x" }); });
app.get("/:rest{.+\\.png}", (c) => c.text(`picture ${c.req.param("rest")}`));
app.notFound((c) => c.text("no such page of hono", 404));
app.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.text(`${error}`, 500)));

/** What needs no real request: https://hono.dev/docs/guides/testing, /docs/guides/validation, /docs/middleware/builtin/timing and /request-id */
export async function middleware() {
  const small = new Hono()
    .use(requestId(), timing({ total: false }), prettyJSON())
    .get("/posts/:id{[0-9]+}", validator("query", (value, c) => (typeof value.body === "string" ? { body: value.body } : c.text("Invalid!", 400))), (c) => {
      setMetric(c, "region", "europe-west3");
      return c.json({ id: c.req.param("id"), body: c.req.valid("query").body });
    });
  const right = await small.request("/posts/12?body=hi&pretty"), client = testClient(small);
  const token = await sign({ sub: "user123", exp: 9999999999 }, "it-is-very-secret", "HS256");
  return {
    right: await right.text(), timing: right.headers.get("server-timing"), id: right.headers.get("x-request-id")!.length,
    wrong: [(await small.request("/posts/12")).status, (await small.request("/posts/x")).status],
    client: await (await client.posts[":id{[0-9]+}"].$get({ param: { id: "7" }, query: { body: "rpc" } })).json(), url: client.posts[":id{[0-9]+}"].$url({ param: { id: "7" }, query: { body: "b" } }).pathname, token,
  };
}
