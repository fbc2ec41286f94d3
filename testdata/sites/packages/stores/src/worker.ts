// Each path runs what a package does on keys, on storage and on the cache, and answers with what came of it.
import { assets } from "./assets.ts";
import { cached } from "./cached.ts";
import { resumable } from "./resumable.ts";

export interface Env { KV: KVNamespace; BUCKET: R2Bucket }

type Topic = (request: Request, env: Env, ctx: ExecutionContext) => Promise<unknown>;

const topics: Record<string, Topic> = { assets, cached, resumable };

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const topic = topics[new URL(request.url).pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic(request, env, ctx));
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: (error as Error).stack }, { status: 500 });
    }
  },
};
