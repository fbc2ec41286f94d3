import { Hono } from "hono";
import type { AppEnv } from "../env";
import { archive } from "./archive";
import { boats } from "./boats";
import { boom } from "./boom";
import { calendar } from "./calendar";
import { checkup } from "./checkup";
import { outings } from "./outings";
import { river } from "./river";
import { stats } from "./stats";

export const api = new Hono<AppEnv>();

api.get("/health", (c) => c.json({ ok: true, club: "Riverside Rowing Club" }));
api.route("/", outings);
api.route("/", calendar);
api.route("/boats", boats);
api.route("/river", river);
api.route("/archive", archive);
api.route("/stats", stats);
api.route("/checkup", checkup);
api.route("/boom", boom);
