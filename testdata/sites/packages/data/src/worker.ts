// Each path runs what a package's own documentation shows, and answers with what came of it.
import * as checks from "./checks.ts";
import * as dates from "./dates.ts";
import * as formats from "./formats.ts";
import * as search from "./search.ts";
import * as state from "./state.ts";
import * as web from "./web.ts";

const topics: Record<string, () => unknown> = { ...checks, ...dates, ...formats, ...search, ...state, ...web };

export default {
  async fetch(request: Request): Promise<Response> {
    const topic = topics[new URL(request.url).pathname.slice(1)];
    if (topic === undefined) return new Response("no such topic", { status: 404 });
    try {
      return Response.json(await topic());
    } catch (error) {
      return Response.json({ failed: `${error}`, stack: (error as Error).stack }, { status: 500 });
    }
  },
};
