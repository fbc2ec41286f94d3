import { AutoRouter, cors, error, IttyRouter, json, Router, StatusError, text, withContent, withParams } from "itty-router";

/** https://itty.dev/itty-router/ */
export async function itty() {
  const { preflight, corsify } = cors({ origin: "https://example.com" });
  const open = AutoRouter({ before: [preflight], finally: [corsify] }).get("/json", () => [1]), auto = AutoRouter();
  auto
    .get("/hello/:name?", ({ name = "World" }) => `Hello, ${name}!`)
    .get("/json", ({ query }) => ({ query }))
    .post("/todos", withContent, async ({ content }) => ({ got: content }))
    .get("/boom", () => { throw new StatusError(418, { error: "teapot", extra: 1 }); })
    .all("/files/:path+", ({ params }) => params.path);
  const plain = IttyRouter({ base: "/v1" });
  plain.get("/:id.:ext", ({ params }) => text(`${params.id}|${params.ext}`)).all("*", () => error(404));
  const staged = Router({ before: [withParams], catch: error, finally: [json] });
  staged.get("/n/:n", ({ n }) => [Number(n), 1]);
  const ask = async (router: { fetch(request: Request): Promise<Response> }, path: string, init?: RequestInit) => {
    const response = await router.fetch(new Request(`https://example.com${path}`, init));
    return [response.status, response.headers.get("content-type"), await response.text()].join(" | ");
  };
  return {
    hello: [await ask(auto, "/hello"), await ask(auto, "/hello/Jane")], query: await ask(auto, "/json?a=1&a=2&b"),
    todo: await ask(auto, "/todos", { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } }),
    form: await ask(auto, "/todos", { method: "POST", body: new URLSearchParams({ x: "y" }) }),
    boom: await ask(auto, "/boom"), none: await ask(auto, "/nope"), files: await ask(auto, "/files/a/b.txt"),
    cors: (await open.fetch(new Request("https://example.com/json", { headers: { origin: "https://example.com" } }))).headers.get("access-control-allow-origin"),
    preflight: (await open.fetch(new Request("https://example.com/json", { method: "OPTIONS" }))).status,
    base: await ask(plain, "/v1/a.png"), lost: await ask(plain, "/v1/none"), staged: await ask(staged, "/n/5"),
  };
}
