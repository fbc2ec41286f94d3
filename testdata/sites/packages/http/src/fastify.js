// https://fastify.dev/docs/latest/
import { Readable } from "node:stream";
import Fastify from "fastify";

const fastify = Fastify({ pluginTimeout: 0 }); // the module may set no timer
fastify.decorate("greeting", "Hello");
fastify.addHook("onSend", async (request, reply, payload) => {
  reply.header("x-hook", "seen");
  return payload;
});
fastify.register(async (routes) => {
  routes.get("/text", async () => "Hello Fastify");
  routes.get("/hello/:name", {
    schema: {
      params: { type: "object", properties: { name: { type: "string", minLength: 2 } } },
      response: { 200: { type: "object", properties: { text: { type: "string" }, n: { type: "integer" } } } },
    },
  }, async (request) => ({ text: `${fastify.greeting} ${request.params.name}`, n: 1, dropped: true }));
  routes.post("/body", {
    schema: { body: { type: "object", required: ["age"], properties: { age: { type: "integer" } } } },
  }, async (request, reply) => reply.code(201).send({ age: request.body.age }));
  routes.get("/stream", (request, reply) => reply.type("text/plain").send(Readable.from(["1", "2", "3"])));
  routes.get("/cookies", async (request, reply) => reply.header("set-cookie", ["a=1", "b=2"]).send("set"));
  routes.get("/who", async (request) => ({ ip: request.ip, host: request.hostname, protocol: request.protocol, url: request.url }));
  routes.get("/go", async (request, reply) => reply.redirect("/fastify/text"));
  routes.get("/empty", async (request, reply) => reply.code(204).send());
  routes.get("/boom", async () => { throw new Error("BROKEN"); });
  routes.get("/inject", async () => {
    const answer = await fastify.inject({ method: "POST", url: "/fastify/body", payload: { age: 7 } });
    return { status: answer.statusCode, hook: answer.headers["x-hook"], body: answer.json() };
  });
  routes.get("/raw", (request, reply) => {
    reply.hijack();
    reply.raw.writeHead(202, { "x-raw": "1" });
    reply.raw.end("raw");
  });
}, { prefix: "/fastify" });
await fastify.ready();
fastify.server.listen(3003);
