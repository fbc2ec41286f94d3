import { Redis } from "@upstash/redis/cloudflare";
import kyLib, { HTTPError, TimeoutError } from "ky";
import createClient, { type Middleware } from "openapi-fetch";

/** https://github.com/sindresorhus/ky#readme */
export async function ky(at: string) {
  const seen: string[] = [];
  const api = kyLib.create({ prefixUrl: at, retry: { limit: 2, delay: () => 1 }, headers: { "x-rainbow": "unicorn" }, hooks: { beforeRetry: [({ retryCount }) => void seen.push(`retry ${retryCount}`)], afterResponse: [(_request, _options, response) => void seen.push(`${response.status}`)] } });
  const posted = await api.post("echo", { json: { foo: true }, searchParams: { q: "a b" } }).json<Record<string, unknown>>();
  const flaky = await api.get("flaky").text();
  const errors: string[] = [];
  await api.get("missing").catch(async (error: HTTPError) => errors.push(`${error.name} ${error.response.status} ${error.message.replace(at, "")}`));
  await api.get("slow", { timeout: 20, retry: 0 }).catch((error: TimeoutError) => errors.push(error.name));
  const form = new FormData();
  form.append("food", "fries");
  form.append("file", new Blob(["chips"], { type: "text/plain" }), "a.txt");
  const progress: number[] = [];
  const bytes = await api.get("large", { onDownloadProgress: ({ transferredBytes }) => void progress.push(transferredBytes) }).arrayBuffer();
  return { posted, flaky, seen, errors, form: await api.post("form", { body: form }).text(), bytes: bytes.byteLength, progress: progress.at(-1) };
}

interface paths {
  "/boats/{id}": { get: { parameters: { path: { id: string }; query?: { fields?: string[] } }; responses: { 200: { content: { "application/json": { id: string; name: string } } }; 404: { content: { "application/json": { message: string } } } } } };
  "/echo": { post: { requestBody: { content: { "application/json": { name: string } } }; responses: { 200: { content: { "application/json": Record<string, unknown> } } } } };
}

/** https://openapi-ts.dev/openapi-fetch/ */
export async function openapiFetch(at: string) {
  const client = createClient<paths>({ baseUrl: at }), seen: string[] = [];
  const token: Middleware = { async onRequest({ request }) { request.headers.set("authorization", "Bearer t"); return request; }, async onResponse({ response, schemaPath }) { seen.push(`${schemaPath} ${response.status}`); } };
  client.use(token);
  const { data } = await client.GET("/boats/{id}", { params: { path: { id: "a b" }, query: { fields: ["id", "name"] } } });
  const { error, response } = await client.GET("/boats/{id}", { params: { path: { id: "404" } } });
  const made = await client.POST("/echo", { body: { name: "wren" } });
  return { data, error, status: response.status, made: made.data, seen };
}

/** https://github.com/upstash/redis-js#readme */
export async function redis(at: string) {
  const redis = new Redis({ url: `${at}/redis`, token: "secret", retry: false, enableTelemetry: false });
  const pipeline = redis.pipeline().set("a", { n: 1 }).get("a");
  let refused = "";
  try {
    await redis.incr("wrong");
  } catch (error) {
    refused = (error as Error).message;
  }
  return { set: await redis.set("key", "value", { ex: 60 }), got: await redis.get("json"), list: await redis.lrange("list", 0, -1), pipeline: await pipeline.exec(), refused };
}
