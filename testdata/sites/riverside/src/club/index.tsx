import { Hono } from "hono";
import { csrf } from "hono/csrf";
import { secureHeaders } from "hono/secure-headers";
import type { AppContext, AppEnv } from "../env";
import { withMember } from "../lib/member";
import { NEWS } from "../lib/news";
import { comingOutings } from "../lib/outings";
import { countSignUp, signUp } from "../lib/signups";
import { readCrews } from "./crews";
import { addNote, NOTE_LENGTH, newestNotes } from "./notes";
import { ClubPage, type News } from "./page";
import { signUpsAsCsv } from "./sheet";

/** The members' part of the site. The platform stops all other requests before. */
export const club = new Hono<AppEnv>();

club.use(
  withMember,
  csrf(),
  secureHeaders({
    strictTransportSecurity: false, // the platform sets it
    referrerPolicy: "same-origin", // csrf() needs the origin, which browsers hide without it
    xFrameOptions: "DENY",
    contentSecurityPolicy: { defaultSrc: ["'self'"], frameAncestors: ["'none'"], formAction: ["'self'"], baseUri: ["'none'"] },
  }),
  async (c, next) => {
    await next();
    c.header("cache-control", "private, no-store");
  },
);

club.get("/", (c) => show(c));

club.post("/notes", async (c) => {
  const body = String((await c.req.formData()).get("body") ?? "").trim();
  if (body.length === 0 || body.length > NOTE_LENGTH) {
    return show(c, { good: false, text: `A note has 1 to ${NOTE_LENGTH} characters; yours has ${body.length}.` });
  }
  await addNote(c.env.DB, c.get("member"), body);
  return c.redirect("/club#notes", 303);
});

club.post("/outings/:id/signups", async (c) => {
  const member = c.get("member");
  const outing = (await comingOutings(c.env.DB, new Date())).find((o) => o.id === c.req.param("id"));
  if (!outing) return c.notFound();
  const result = await signUp(c.env.DB, outing, { name: member.name, email: member.email, note: "", memberId: member.id });
  if (!result.ok) return show(c, { good: false, text: NEWS[result.reason] });
  c.executionCtx.waitUntil(countSignUp(c.env, outing));
  return c.redirect("/club?seat=1#outings", 303);
});

club.get("/signups.csv", (c) =>
  c.body(signUpsAsCsv(c.env.DB), 200, {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="riverside-signups.csv"',
  }),
);

async function show(c: AppContext, news?: News): Promise<Response> {
  const { DB } = c.env;
  const [outings, crews, notes] = await Promise.all([comingOutings(DB, new Date()), readCrews(DB), newestNotes(DB)]);
  const seated = c.req.query("seat") === "1" ? { good: true, text: "You have a seat. See you at the boathouse." } : undefined;
  const page = <ClubPage member={c.get("member")} outings={outings} crews={crews} notes={notes} news={news ?? seated} />;
  return c.html(page, news ? 422 : 200);
}
