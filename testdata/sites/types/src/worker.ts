// Uses each method of each binding, rightly and, behind ts-expect-error, wrongly: the compiler complains of an
// expectation that does not come true.
import { env as imported, waitUntil } from "cloudflare:workers";
import data from "./data.json";
import query from "./crews.sql";

interface Crew { id: number; name: string }

export default {
  async fetch(request, env, ctx): Promise<Response> {
    await database(env);
    await keyValue(env);
    await bucket(env);
    await images(env, request);
    ctx.waitUntil(Promise.resolve());
    ctx.passThroughOnException();
    waitUntil(Promise.resolve());
    const member: Pages.Member | null | undefined = ctx.member;
    // @ts-expect-error a member has no password
    member?.password;
    const form: Pages.FormName = "say-hello";
    const event: Pages.FormEvent = "custom.joined";
    // @ts-expect-error no such form
    const other: Pages.FormName = "leave";
    const secret: string = env.API_KEY;
    const same: string = imported.API_KEY;
    // @ts-expect-error not declared in the manifest
    env.NOT_DECLARED;
    // @ts-expect-error nor is this
    imported.NOT_DECLARED;
    const page = await env.ASSETS.fetch("http://site/index.html");
    // @ts-expect-error assets are only fetched
    env.ASSETS.list();
    // @ts-expect-error a text is no number
    const n: number = query;
    return new Response(`${member?.name} ${form} ${event} ${other} ${secret} ${same} ${n} ${data.n} ${page.status}`);
  },
} satisfies Pages.Handler;

async function database(env: Env) {
  const statement = env.DB.prepare("SELECT * FROM crews WHERE id = ?").bind(1);
  const crew: Crew | null = await statement.first<Crew>();
  const name: string | null = await statement.first<string>("name");
  const rows: Crew[] = (await statement.all<Crew>()).results;
  const changed: number = (await statement.run()).meta.changes;
  const raw: [number, string][] = await statement.raw<[number, string]>();
  const [columns] = await statement.raw({ columnNames: true });
  const several = await env.DB.batch([statement, statement]);
  const done: number = (await env.DB.exec("SELECT 1")).count;
  const session = env.PROJECT_DB.withSession("first-primary");
  const bookmark: string | null = session.getBookmark();
  // @ts-expect-error SQL is text
  env.DB.prepare(1);
  // @ts-expect-error a crew or null
  const sure: Crew = await statement.first<Crew>();
  // @ts-expect-error all() gives an object with results
  const list: Crew[] = await statement.all<Crew>();
  // @ts-expect-error batch takes statements
  await env.DB.batch(["SELECT 1"]);
  // @ts-expect-error no such method
  env.DB.query("SELECT 1");
  return [crew, name, rows, changed, raw, columns, several, done, bookmark, sure, list];
}

async function keyValue(env: Env) {
  const text: string | null = await env.CACHE.get("a");
  const json: Crew | null = await env.CACHE.get<Crew>("a", "json");
  const bytes: ArrayBuffer | null = await env.CACHE.get("a", { type: "arrayBuffer", cacheTtl: 60 });
  const stream: ReadableStream | null = await env.CACHE.get("a", "stream");
  const many: Map<string, string | null> = await env.CACHE.get(["a", "b"], "text");
  const { value, metadata } = await env.CACHE.getWithMetadata<{ by: string }>("a");
  const by: string | undefined = metadata?.by;
  await env.CACHE.put("a", new Uint8Array(1), { expirationTtl: 60, metadata: { by: "me" } });
  const listed = await env.CACHE.list({ prefix: "a" });
  const next: string = listed.list_complete ? listed.keys[0]!.name : listed.cursor;
  await env.CACHE.delete("a");
  // @ts-expect-error a key is text
  await env.CACHE.get(1);
  // @ts-expect-error no such type
  await env.CACHE.get("a", "xml");
  // @ts-expect-error a value is no object
  await env.CACHE.put("a", { b: 1 });
  // @ts-expect-error text or null
  const sure: string = await env.CACHE.get("a");
  return [text, json, bytes, stream, many, value, by, next, sure];
}

async function bucket(env: Env) {
  const put = await env.FILES.put("a", "text", { httpMetadata: { contentType: "text/plain" }, customMetadata: { by: "me" } });
  const kept: string | undefined = (await env.FILES.put("a", "b", { onlyIf: { etagMatches: put.etag } }))?.etag;
  const head: number | undefined = (await env.FILES.head("a"))?.size;
  const got = await env.FILES.get("a", { range: { offset: 0, length: 5 } });
  if (got?.range && "offset" in got.range) console.log(got.range.offset, got.checksums.md5?.byteLength, got.checksums.toJSON().sha256);
  const text: string | undefined = await got?.text();
  const json: Crew | undefined = await got?.json<Crew>();
  got?.writeHttpMetadata(new Headers());
  const listed = await env.FILES.list({ prefix: "a", include: ["customMetadata"] });
  const cursor: string = listed.truncated ? listed.cursor : listed.objects[0]!.key;
  const upload = await env.FILES.createMultipartUpload("b");
  const part = await upload.uploadPart(1, new Uint8Array(5));
  await upload.complete([part]);
  await env.FILES.resumeMultipartUpload("b", upload.uploadId).abort();
  await env.FILES.delete(["a", "b"]);
  // @ts-expect-error an object can be missing
  await (await env.FILES.get("a")).text();
  // @ts-expect-error a number cannot be stored
  await env.FILES.put("a", 1);
  // @ts-expect-error a limit is a number
  await env.FILES.list({ limit: "ten" });
  return [kept, head, text, json, cursor];
}

async function images(env: Env, request: Request) {
  const body = request.body as ReadableStream<Uint8Array>;
  const info = await env.IMAGES.info(body);
  const width: number = "width" in info ? info.width : 0;
  const made = await env.IMAGES.input(body).transform({ width: 100, fit: "cover", rotate: 90 }).draw(body, { opacity: 0.5, top: 1 }).output({ format: "image/webp", quality: 80 });
  const response: Response = made.response();
  const type: string = made.contentType();
  // @ts-expect-error no such fit
  env.IMAGES.input(body).transform({ fit: "stretch" });
  // @ts-expect-error no such format
  await env.IMAGES.input(body).output({ format: "image/tiff" });
  return [width, response, type];
}
