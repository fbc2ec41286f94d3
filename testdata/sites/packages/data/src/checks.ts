import Ajv from "ajv";
import * as v from "valibot";
import * as z from "zod";
import * as mini from "zod/mini";

const Player = z.object({ username: z.string().min(3), xp: z.number(), email: z.email().optional(), joined: z.coerce.date() });

/** https://zod.dev/basics */
export function zod() {
  const parsed: z.infer<typeof Player> = Player.parse({ username: "billie", xp: 100, joined: "2024-02-29" });
  const result = Player.safeParse({ username: "b", xp: "100", email: "nope", joined: "never" });
  const shapes = z.discriminatedUnion("kind", [z.object({ kind: z.literal("circle"), r: z.number() }), z.object({ kind: z.literal("square"), a: z.number() })]);
  const area = z.codec(z.string(), z.bigint(), { decode: (s) => BigInt(s), encode: (n) => `${n}` });
  return {
    joined: parsed.joined.toISOString(),
    issues: result.error!.issues.map((issue) => [issue.path.join("."), issue.code, issue.message]),
    pretty: z.prettifyError(result.error!).split("\n").length,
    tree: z.treeifyError(result.error!).properties!.username!.errors,
    union: [shapes.safeParse({ kind: "circle", r: 1 }).success, shapes.safeParse({ kind: "circle", a: 1 }).success],
    big: z.encode(area, z.decode(area, "12345678901234567890")),
    schema: z.toJSONSchema(Player.omit({ joined: true })),
    piped: z.string().trim().transform((s) => s.length).pipe(z.number().max(3)).safeParse(" abcd ").error!.issues[0].message,
    mini: mini.parse(mini.array(mini.optional(mini.string())), ["a", undefined]).length,
  };
}

/** https://github.com/fabian-hiller/valibot#readme */
export async function valibot() {
  const Login = v.object({ email: v.pipe(v.string(), v.nonEmpty("Please enter your email."), v.email()), password: v.pipe(v.string(), v.minLength(8)) });
  const result = v.safeParse(Login, { email: "jane@example.com", password: "123" });
  const later = v.pipeAsync(v.string(), v.checkAsync(async (name) => name !== "taken", "This name is taken."));
  let refused = "";
  try {
    v.parse(Login, { email: "", password: "" });
  } catch (error) {
    refused = (error as v.ValiError<typeof Login>).message;
  }
  return {
    parsed: v.parse(Login, { email: "jane@example.com", password: "12345678" }),
    flat: v.flatten<typeof Login>(result.issues!),
    refused,
    later: (await v.safeParseAsync(later, "taken")).issues!.map((issue) => issue.message),
    variant: v.is(v.variant("type", [v.object({ type: v.literal("a"), n: v.number() }), v.object({ type: v.literal("b") })]), { type: "a", n: 1 }),
    emoji: v.is(v.pipe(v.string(), v.emoji()), "⛵"),
  };
}

/** https://ajv.js.org/guide/getting-started.html: schemas are compiled with new Function, which the platform refuses */
export function ajv() {
  try {
    new Ajv().compile({ type: "object", properties: { foo: { type: "integer" } }, required: ["foo"] });
    return { compiled: true };
  } catch (error) {
    return { refused: `${error}` };
  }
}
