// https://koajs.com/
import { Readable } from "node:stream";
import Koa from "koa";

const app = new Koa({ keys: ["secret"] });
app.silent = true;
app.use(async (ctx, next) => {
  try {
    await next();
  } finally {
    ctx.set("X-Order", `${ctx.response.get("X-Order")} out`);
  }
});
app.use(async (ctx, next) => {
  ctx.set("X-Order", "in");
  await next();
});

const routes = {
  text(ctx) { ctx.body = "Hello Koa"; },
  json(ctx) { ctx.body = { query: ctx.query, host: ctx.hostname, ip: ctx.ip, protocol: ctx.protocol, length: ctx.request.length ?? null }; },
  stream(ctx) { ctx.type = "txt"; ctx.body = Readable.from(["x", "y"]); },
  buffer(ctx) { ctx.body = Buffer.from("bytes"); },
  web(ctx) { ctx.body = new Blob(["blob"]); },
  cookie(ctx) { ctx.cookies.set("view", "1", { signed: true }); ctx.body = ctx.cookies.get("seen") ?? "none"; },
  etag(ctx) { ctx.status = 200; ctx.etag = "v1"; if (ctx.fresh) ctx.status = 304; else ctx.body = "fresh"; },
  go(ctx) { ctx.redirect("/koa/text"); },
  empty(ctx) { ctx.status = 204; },
  denied(ctx) { ctx.throw(403, "not for you"); },
  boom() { throw new Error("hidden"); },
  async post(ctx) {
    let text = "";
    for await (const piece of ctx.req) text += piece;
    ctx.body = text.toUpperCase();
  },
};
app.use(async (ctx) => { await routes[ctx.path.slice("/koa/".length)]?.(ctx); });
app.listen(3002);
