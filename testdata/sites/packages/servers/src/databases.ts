import { and, asc, desc, eq, gt, like, relations, sql as drizzleSql } from "drizzle-orm";
import { drizzle as connect } from "drizzle-orm/d1";
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Kysely, sql } from "kysely";
import { D1Dialect } from "kysely-d1";
import type { Env } from "./env.ts";

const boats = sqliteTable("boats", { id: integer("id").primaryKey(), name: text("name").notNull().unique(), built: integer("built", { mode: "timestamp" }), extras: text("extras", { mode: "json" }).$type<{ color: string }>() });
const seats = sqliteTable("seats", { boat: integer("boat").notNull().references(() => boats.id), number: integer("number").notNull(), rower: text("rower") }, (t) => [primaryKey({ columns: [t.boat, t.number] })]);
const boatsOf = relations(boats, ({ many }) => ({ seats: many(seats) }));
const seatOf = relations(seats, ({ one }) => ({ boat: one(boats, { fields: [seats.boat], references: [boats.id] }) }));

/** https://orm.drizzle.team/docs/connect-cloudflare-d1 */
export async function drizzle(_: Request, env: Env) {
  const db = connect(env.DB, { schema: { boats, seats, boatsOf, seatOf } });
  await db.delete(seats);
  await db.delete(boats);
  const [made] = await db.insert(boats).values([{ name: "heron", built: new Date(864e5), extras: { color: "red" } }, { name: "wren" }]).returning();
  await db.batch([db.insert(seats).values([{ boat: made.id, number: 1, rower: "Jane" }, { boat: made.id, number: 2 }]), db.update(boats).set({ name: "wren II" }).where(eq(boats.name, "wren"))]);
  const again = await db.insert(boats).values({ name: "heron" }).onConflictDoUpdate({ target: boats.name, set: { name: drizzleSql`excluded.name || '!'` } }).returning({ name: boats.name });
  let refused = "";
  try {
    await db.insert(boats).values({ name: "heron!" });
  } catch (error) {
    refused = `${((error as Error).cause as Error)?.message ?? error}`;
  }
  return {
    made: { name: made.name, built: made.built!.toISOString(), extras: made.extras }, again, refused,
    joined: await db.select({ boat: boats.name, n: drizzleSql<number>`count(${seats.number})` }).from(boats).leftJoin(seats, eq(seats.boat, boats.id)).groupBy(boats.id).orderBy(desc(boats.name)),
    related: await db.query.boats.findMany({ columns: { name: true }, with: { seats: { columns: { number: true, rower: true }, orderBy: asc(seats.number) } }, where: like(boats.name, "he%") }),
    query: db.select().from(boats).where(and(gt(boats.id, 3), eq(boats.name, "x"))).toSQL(),
    run: (await db.run(drizzleSql`update seats set rower = ${"Bob"} where number = ${2}`)).meta.changes, count: await db.$count(seats),
  };
}

interface Tables { boats: { id?: number; name: string; built: number | null }; seats: { boat: number; number: number; rower: string | null } }

/** https://github.com/aidenwallis/kysely-d1#usage, and https://kysely.dev/docs/getting-started */
export async function kysely(_: Request, env: Env) {
  const db = new Kysely<Tables>({ dialect: new D1Dialect({ database: env.DB }) });
  await db.deleteFrom("seats").execute();
  await db.deleteFrom("boats").execute();
  const made = await db.insertInto("boats").values([{ name: "grebe", built: 1990 }, { name: "teal", built: null }]).returning(["id", "name"]).execute();
  await db.insertInto("seats").values({ boat: made[0].id!, number: 1, rower: "Jane" }).execute();
  const updated = await db.updateTable("boats").set({ built: 2000 }).where("built", "is", null).executeTakeFirst();
  const query = db.selectFrom("boats as b").leftJoin("seats as s", "s.boat", "b.id").select(["b.name", "s.rower", sql<number>`b.built + 1`.as("next")]).where((eb) => eb.or([eb("b.name", "in", ["grebe", "teal"]), eb("b.built", ">", 2020)])).orderBy("b.name");
  return { rows: await query.execute(), sql: query.compile().sql, updated: `${updated.numUpdatedRows}`, names: made.map((boat) => boat.name), first: (await db.with("old", (qb) => qb.selectFrom("boats").selectAll().where("built", "<", 1995)).selectFrom("old").select(({ fn }) => fn.countAll<number>().as("n")).executeTakeFirstOrThrow()).n };
}
