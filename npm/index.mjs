// The bindings of a site in a process of Node.js: env, ctx, cf and caches as in a Worker.
import { connect, follow } from "./bindings.mjs";
import { folderKey, givenServer, runningServer, siteFolder, startServer } from "./server.mjs";

/** cf on this machine, as in a Worker of pages dev. */
const CF = Object.freeze({});

class ExecutionContext {
  props = {};
  waitUntil(promise) {
    Promise.resolve(promise).catch((error) => console.error("waitUntil:", error));
  }
  passThroughOnException() {}
}

/** Finds the server of a site's bindings. */
async function serverOf({ dir, start = true, onLine }) {
  const given = dir === undefined ? givenServer() : undefined;
  if (given !== undefined) return given;
  const site = siteFolder(dir);
  const running = await runningServer(site);
  if (running !== undefined) return running;
  if (start) return startServer(site, { onLine });
  throw new Error(`no pages dev runs for ${site}: start it, or start this process with it: pages dev -- COMMAND`);
}

/**
 * The bindings of a site. See index.d.ts.
 */
export async function getPlatform(options = {}) {
  const server = await serverOf(options);
  const unfollow = follow();
  try {
    const { env, caches, wire } = await connect(server);
    const ctx = new ExecutionContext();
    return {
      env,
      cf: CF,
      ctx,
      caches,
      url: server.url,
      async dispose() {
        unfollow();
        wire.close();
        server.end?.();
      },
    };
  } catch (error) {
    unfollow();
    server.end?.();
    throw error;
  }
}

/** @type {Map<string, Promise<any>>} */
const shared = new Map();

/** The bindings of a site that the whole process shares; they are never disposed. */
export function sharedPlatform(options = {}) {
  const key = options.dir === undefined && givenServer() !== undefined ? "" : folderKey(siteFolder(options.dir));
  let found = shared.get(key);
  if (found === undefined) {
    found = getPlatform(options);
    shared.set(key, found);
    found.catch(() => shared.delete(key));
  }
  return found;
}

/** A SvelteKit adapter that gives event.platform the bindings in `vite dev`. */
export function sveltekit(adapter, options = {}) {
  return {
    ...adapter,
    name: adapter?.name ?? "pages-toolchain",
    adapt: (builder) => adapter?.adapt?.(builder),
    emulate: async () => {
      const { env, cf, ctx, caches } = await sharedPlatform(options);
      return { platform: () => ({ env, cf, ctx, context: ctx, caches }) };
    },
  };
}

/** An Astro integration that gives Astro.locals.runtime the bindings in `astro dev`. */
export function astro(options = {}) {
  return {
    name: "pages-toolchain",
    hooks: {
      "astro:config:setup": async ({ command, addMiddleware, updateConfig }) => {
        if (command !== "dev") return;
        const { pages } = await import("./vite.mjs");
        updateConfig({ vite: { plugins: [pages(options)] } });
        addMiddleware({ order: "pre", entrypoint: new URL("./astro-middleware.mjs", import.meta.url) });
      },
    },
  };
}

/** A plugin of Nitro and Nuxt that gives event.context.cloudflare the bindings in development. */
export function nitro(app, options = {}) {
  app.hooks.hook("request", async (event) => {
    const { env, ctx, cf, caches } = await sharedPlatform(options);
    event.context.cloudflare = { env, context: ctx, request: event.node?.req ?? event.req, caches };
    event.context.cf = cf;
  });
}

/** In next.config: gives getCloudflareContext() of @opennextjs/cloudflare the bindings in `next dev`. */
export async function initForNextDev(options = {}) {
  const { env, ctx, cf } = await sharedPlatform(options);
  globalThis[Symbol.for("__cloudflare-context__")] = { env, ctx, cf };
}
