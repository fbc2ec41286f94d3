import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { D1Dialect } from "kysely-d1";
import type { Env } from "./env.ts";

/** https://www.better-auth.com/docs/basic-usage, with the site's database through https://github.com/aidenwallis/kysely-d1 */
export async function auth(_: Request, env: Env) {
  const auth = betterAuth({ database: { dialect: new D1Dialect({ database: env.DB }), type: "sqlite" }, secret: "better-auth-secret-123456789-abcdefghij", baseURL: "https://example.com", emailAndPassword: { enabled: true }, telemetry: { enabled: false }, logger: { disabled: true } });
  const { runMigrations } = await getMigrations(auth.options);
  await runMigrations();
  const ask = (path: string, body?: object, headers: Record<string, string> = {}) => auth.handler(new Request(`https://example.com/api/auth${path}`, { method: body ? "POST" : "GET", body: body && JSON.stringify(body), headers: { "content-type": "application/json", origin: "https://example.com", ...headers } }));
  const email = `${crypto.randomUUID()}@example.com`;
  const up = await ask("/sign-up/email", { email, password: "password1234", name: "Jane" });
  const wrong = await ask("/sign-in/email", { email, password: "password12345" });
  const into = await ask("/sign-in/email", { email, password: "password1234" });
  const cookies = into.headers.getSetCookie(), cookie = cookies.map((text) => text.split(";")[0]).join("; ");
  const session = await (await ask("/get-session", undefined, { cookie })).json();
  const direct = await auth.api.getSession({ headers: new Headers({ cookie }) });
  const out = await ask("/sign-out", {}, { cookie });
  return {
    up: up.status, wrong: [wrong.status, (await wrong.json()).code], into: into.status, cookies: cookies.map((text) => text.replace(/=[^;]*/, "=…").replace(/Expires=[^;]*/i, "")),
    name: session.user.name, same: session.user.email === email && direct!.user.email === email, out: out.status,
    after: await (await ask("/get-session", undefined, { cookie })).json(),
  };
}
