import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { api } from "./api";
import { club } from "./club";
import type { AppEnv } from "./env";
import { notFound } from "./lib/not-found";
import { outingsPage } from "./outings";

const app = new Hono<AppEnv>();

app.route("/api", api);
app.route("/outings", outingsPage);
app.route("/club", club);

app.notFound(notFound);

// An HTTPException is a response. Any other error is a bug: throw it again, so
// that the platform logs it with its place in the source and shows its own page.
app.onError((error) => {
  if (error instanceof HTTPException) return error.getResponse();
  throw error;
});

export default app;
