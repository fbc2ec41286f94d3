// Each path runs what a package's own documentation shows, and answers with what came of it.
import * as images from "./images.tsx";
import * as lit from "./lit.ts";
import * as preact from "./preact.tsx";
import * as react from "./react.tsx";
import * as solid from "./solid.ts";
import * as svelte from "./svelte.ts";
import * as vue from "./vue.ts";

interface Env { ASSETS: Fetcher }

const topics: Record<string, (request: Request, env: Env) => unknown> = { ...images, ...lit, ...preact, ...react, ...solid, ...svelte, ...vue };

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const topic = topics[new URL(request.url).pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic(request, env));
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: (error as Error).stack }, { status: 500 });
    }
  },
};
