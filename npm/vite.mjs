// A Vite plugin: plain `vite dev` with the site's members gate, forms, routes and bindings.
//
// Each request of a browser goes to pages dev first, which passes back what no rule of the site takes. Such a request has a
// proof that only pages dev can make.
import { createHash, timingSafeEqual } from "node:crypto";
import { request as open } from "node:http";
import process from "node:process";
import { givenServer, runningServer, siteFolder, startServer } from "./server.mjs";

const PROOF = "x-pages-proof";
const WORKERS = "cloudflare:workers";
const MODULE = "\0pages:workers";

/** The module of `import { env } from "cloudflare:workers"` in code that Vite runs. */
const workers = `import { sharedPlatform } from "pages-toolchain";
const { env, ctx } = await sharedPlatform(OPTIONS);
export { env };
export const waitUntil = (promise) => ctx.waitUntil(promise);
export const withEnv = (_, call) => call();
export class WorkerEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
`;

/** See vite.d.ts. */
export function pages(options = {}) {
  const { front = true, ...where } = options;
  let server; // pages dev: { url, proof }
  return {
    name: "pages-toolchain",
    apply: (_config, { command, isPreview }) => command === "serve" && !isPreview && !process.env.VITEST,
    enforce: "pre",
    config: () => ({ ssr: { external: ["pages-toolchain"] } }),
    resolveId(id) {
      return id === WORKERS && this.environment?.name !== "client" ? MODULE : undefined;
    },
    load(id) {
      return id === MODULE ? workers.replace("OPTIONS", JSON.stringify(where)) : undefined;
    },
    configureServer(vite) {
      if (givenServer() !== undefined || !front || vite.config.server.middlewareMode || vite.httpServer === null)
        return;
      const ready = new Promise((done) => {
        vite.httpServer.once("listening", () => done(startInFront(vite, where)));
      }).then((found) => {
        server = found;
        return found;
      });
      ready.catch((error) => vite.config.logger.error(`pages: ${error.message}`, { timestamp: true }));
      vite.httpServer.once("close", () => server?.end?.());
      vite.middlewares.use((request, response, next) => {
        ready.then((found) => (found === undefined ? next() : pass(found, request, response, next)), next);
      });
    },
  };
}

export default pages;

async function startInFront(vite, where) {
  const dir = siteFolder(where.dir ?? vite.config.root);
  const log = (text) => vite.config.logger.info(`  pages: ${text}`);
  const running = await runningServer(dir);
  if (running !== undefined) {
    log(`pages dev runs already, at ${running.url}: it has the bindings; its gate and forms are at that address only`);
    return undefined;
  }
  const { port } = vite.httpServer.address();
  const scheme = vite.config.server.https ? "https" : "http";
  const found = await startServer(dir, {
    args: ["--upstream", `${scheme}://localhost:${port}`],
    onLine: (line) => line.startsWith("warning:") && log(line),
  });
  log(`the site's gate, forms and bindings are in front; dashboard ${found.url}/__pages/`);
  return { ...found, proof: proofOf(found.token) };
}

/** The value of X-Pages-Proof from pages; see Server.Proof in cmd/internal/nodebindings. */
function proofOf(token) {
  return createHash("sha256").update(`pages passes this on ${token}`).digest("hex");
}

function isPassed(request, proof) {
  const given = request.headers[PROOF];
  return (
    typeof given === "string" &&
    given.length === proof.length &&
    timingSafeEqual(Buffer.from(given), Buffer.from(proof))
  );
}

/** Sends a request to pages, unless it comes from there. */
function pass(server, request, response, next) {
  if (isPassed(request, server.proof)) return next();
  const { hostname, port } = new URL(server.url);
  const path = request.originalUrl ?? request.url;
  const asked = open({ host: hostname, port, method: request.method, path, headers: request.headers, setHost: false });
  asked.once("response", (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
    answer.pipe(response);
    answer.once("error", () => response.destroy());
    response.once("close", () => answer.destroy());
  });
  asked.once("error", (error) => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8" });
    response.end(`pages dev does not answer any more (${error.code ?? error.message}): start vite again\n`);
  });
  request.pipe(asked);
  request.once("close", () => request.complete || asked.destroy());
}
