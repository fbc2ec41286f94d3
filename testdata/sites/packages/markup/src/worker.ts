// Each path runs what a package's own documentation shows, and answers with what came of it.
import * as clean from "./clean.ts";
import * as code from "./code.ts";
import * as dom from "./dom.ts";
import * as mail from "./mail.ts";
import * as markdown from "./markdown.ts";
import * as templates from "./templates.ts";

const topics: Record<string, () => unknown> = { ...clean, ...code, ...dom, ...mail, ...markdown, ...templates };

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
