import { Hono } from "hono";
import type { AppEnv } from "../env";
import { isNews } from "../lib/news";
import { comingOutings } from "../lib/outings";
import { OutingsPage } from "./page";

/** The public programme. Its forms post to the API, with or without the script. */
export const outingsPage = new Hono<AppEnv>();

outingsPage.get("/", async (c) => {
  const outings = await comingOutings(c.env.DB, new Date());
  const code = c.req.query("news");
  return c.html(<OutingsPage outings={outings} news={isNews(code) ? code : undefined} />);
});
