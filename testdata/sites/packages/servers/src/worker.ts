// Each path runs what a package's own documentation shows, and answers with what came of it; what is under
// /hono/ is an application of hono, for what only real requests can show.
import * as auth from "./auth.ts";
import * as databases from "./databases.ts";
import * as graphql from "./graphql.ts";
import * as hono from "./hono.tsx";
import * as itty from "./itty.ts";
import * as openapi from "./openapi.ts";
import * as trpc from "./trpc.ts";
import type { Env } from "./env.ts";

const topics: Record<string, (request: Request, env: Env) => unknown> = {
  auth: auth.auth, drizzle: databases.drizzle, kysely: databases.kysely, graphql: graphql.graphql, graphqlStream: graphql.graphqlStream,
  middleware: hono.middleware, itty: itty.itty, openapi: openapi.openapi, trpc: trpc.trpc,
};

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/hono/")) return hono.app.fetch(request, env, ctx);
    const topic = topics[pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic(request, env));
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: (error as Error).stack, cause: `${(error as Error).cause}` }, { status: 500 });
    }
  },
};
