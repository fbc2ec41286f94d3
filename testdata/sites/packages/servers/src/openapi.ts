import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";

const Params = z.object({ id: z.string().min(3).openapi({ param: { name: "id", in: "path" }, example: "1212121" }) });
const User = z.object({ id: z.string().openapi({ example: "123" }), age: z.number().int().openapi({ example: 42 }) }).openapi("User");

/** https://github.com/honojs/middleware/tree/main/packages/zod-openapi#readme */
export async function openapi() {
  const app = new OpenAPIHono({ defaultHook: (result, c) => (result.success ? undefined : c.json({ code: 400, issues: result.error.issues.map((issue) => issue.message) }, 400)) });
  app.openapi(createRoute({ method: "get", path: "/users/{id}", request: { params: Params }, responses: { 200: { content: { "application/json": { schema: User } }, description: "Retrieve the user" } } }), (c) => c.json({ id: c.req.valid("param").id, age: 20 }, 200));
  app.openapi(createRoute({ method: "post", path: "/users", request: { body: { content: { "application/json": { schema: User } }, required: true } }, responses: { 201: { description: "Made" } } }), (c) => c.body(`${c.req.valid("json").age + 1}`, 201));
  app.doc("/doc", { openapi: "3.0.0", info: { version: "1.0.0", title: "My API" } });
  const post = (body: string) => app.request("/users", { method: "POST", body, headers: { "content-type": "application/json" } });
  return {
    user: await (await app.request("/users/1212")).json(), short: await (await app.request("/users/1")).json(),
    made: await (await post('{"id":"1","age":41}')).text(), refused: await (await post('{"id":1,"age":1.5}')).json(),
    doc: await (await app.request("/doc")).json(),
  };
}
