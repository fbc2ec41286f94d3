import { Hono } from "hono";
import type { AppEnv } from "../env";
import { comingOutings } from "../lib/outings";
import { OutingsPage } from "./page";

/** The public programme. Its forms post to the API, with or without a script. */
export const outingsPage = new Hono<AppEnv>();

outingsPage.get("/", async (c) => {
  const outings = await comingOutings(c.env.DB, new Date());
  return c.html(
    <OutingsPage outings={outings} signedUp={c.req.query("signed-up") === "1"} error={c.req.query("error")} />,
  );
});
