// Each path runs what a client's own documentation shows, against the server that ?at= names, and answers with what came of it.
import * as ai from "./ai.ts";
import * as payments from "./payments.ts";
import * as requests from "./requests.ts";

const topics: Record<string, (at: string) => unknown> = { ...ai, ...payments, ...requests };

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url), topic = topics[pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic(searchParams.get("at")!));
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: (error as Error).stack, cause: `${(error as Error).cause}` }, { status: 500 });
    }
  },
};
