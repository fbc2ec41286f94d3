// The site's front door on Cloudflare: the platform's order of things, in which the members gate comes first.
import { env as bound } from "cloudflare:workers";
import * as site from "./site.js";
import config from "./config.js";
import { challenge, isPreflight, keepForm, sendsForm, stampScript, takeForeign, takeForm, thanks } from "./forms.js";
import { identify, signIn, signedOut, signOut } from "./members.js";
import { refuse, seeOther } from "./answers.js";
import { escapePath, foldPath, fromAnotherSite, isNavigation, isReading, RouteTable } from "./paths.js";
import { canonical } from "./readings.js";

const routes = new RouteTable(config.routes);
const guardedFiles = new Set(config.guarded);
const PUBLIC = "public, max-age=0, must-revalidate";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const path = canonical(url.pathname);
    if (path.fault) return refuse(request, 400, "path_malformed", path.fault);
    const reserved = reservedIn(path);
    if (reserved !== undefined) return platform(request, url, reserved, env);
    const visit = { request, url, path: path.decoded, file: path.file, env, ctx, member: undefined };
    if ([path.decoded, path.file, ...(path.readings ?? [])].some(isGuarded)) {
      const refusal = await passGate(visit);
      if (refusal) return refusal;
    }
    const answer = await serve(visit);
    return visit.member ? keepPrivate(answer) : answer;
  },
};

/** The path after "/__pages/", for a path with one reading; "?" if one of several readings is below it. */
function reservedIn(path) {
  const { decoded = "", readings } = path;
  if (!readings) return reservedName(decoded);
  return [decoded, ...readings].some((reading) => reservedName(reading) !== undefined) ? "?" : undefined;
}

/** The path after "/__pages/"; "?" for a path that only resembles such a path. */
function reservedName(path) {
  const cut = (text) =>
    text === "/__pages" || text.startsWith("/__pages/") ? text.slice("/__pages/".length) : undefined;
  return cut(path) ?? (cut(foldPath(path)) === undefined ? undefined : "?");
}

async function platform(request, url, name, env) {
  if (name === "forms" || name.startsWith("forms/")) {
    const form = name.slice("forms/".length);
    const own = { thanks, "stamp.js": stampScript, "altcha.json": challenge };
    if (isReading(request) && Object.hasOwn(own, form)) return own[form]();
    if (request.method !== "POST" && !isPreflight(request))
      return refuse(request, 405, "method_not_allowed", `this address does not take ${request.method} requests`, {
        allow: "POST",
      });
    return takeForeign(request, url.pathname, (asJSON) => takeForm(request, form, env, asJSON));
  }
  const follows =
    isReading(request) &&
    request.headers.get("sec-fetch-mode") === "navigate" &&
    request.headers.get("sec-fetch-dest") === "document";
  if (fromAnotherSite(request) && !follows)
    return refuse(request, 403, "foreign_origin", "only the site itself may ask for this");
  if (name === "sign-in") return signIn(request, url, env);
  if (name === "sign-out") return signOut(request);
  if (name === "signed-out") return signedOut(request, url);
  return refuse(request, 404, "not_found", "there is no page at this address");
}

/** Also by every name of the file that lies at the path. */
function isGuarded(path) {
  return routes.isGated(path) || guardedFiles.has(foldPath(path));
}

/** Lets a member in; anybody else gets the returned response. */
async function passGate(visit) {
  const { request, url, env } = visit;
  const who = await identify(request, env);
  if (who?.member) {
    if (request.headers.has("upgrade") && fromAnotherSite(request)) {
      return refuse(request, 403, "foreign_origin", "another site may not open a connection to a members page");
    }
    visit.member = who;
    return undefined;
  }
  if (who)
    return refuse(
      request,
      403,
      "not_a_member",
      `you are signed in as ${who.email}, who is not a member: sign in as somebody else`,
    );
  if (sendsForm(request)) return keepForm(request, url);
  if (isNavigation(request)) return seeOther(`/__pages/sign-in?next=${encodeURIComponent(url.pathname + url.search)}`);
  const headers = { "www-authenticate": "Pages-Session" };
  return refuse(request, 401, "sign_in_required", "this page is for members: sign in first", headers, true);
}

async function serve(visit) {
  const { request, path } = visit;
  if (!METHODS.includes(request.method))
    return refuse(request, 405, "method_not_allowed", "a site does not answer this method");
  const listed = config.worker && routes.lists(path);
  if (listed && !isReading(request)) return askWorker(visit);
  const file = await findFile(visit, isReading(request) ? request.method : "HEAD");
  if (!file && listed) return askWorker(visit);
  const page = !file && config.fallbacks.find(({ folder }) => path.startsWith(`${folder}/`))?.page;
  if (page) return fallBack(visit, page);
  if (!file) return notFound(visit);
  if (!isReading(request))
    return refuse(
      request,
      405,
      "method_not_allowed",
      'this page only accepts GET and HEAD: list the path in "routes" of the manifest to let the Worker answer it',
      { allow: "GET, HEAD" },
    );
  return file;
}

/** The page of a rule "/* /index.html 200", which serves all other paths. */
async function fallBack(visit, page) {
  if (!isReading(visit.request))
    return refuse(visit.request, 405, "method_not_allowed", "this page only accepts GET and HEAD", {
      allow: "GET, HEAD",
    });
  if (isGuarded(page) && !visit.member) {
    const refusal = await passGate(visit);
    if (refusal) return refusal;
  }
  return (await findFile({ ...visit, path: page, file: page }, visit.request.method)) ?? notFound(visit);
}

/** The static file at the path, as the assets' own server answers for it. Another reading leads to the file's own path. */
async function findFile({ request, url, path, file, env, member }, method) {
  if (!env.ASSETS || file === "") return undefined;
  const target = new URL(url);
  target.pathname = escapePath(file);
  const answer = await env.ASSETS.fetch(new Request(target, { method, headers: request.headers, redirect: "manual" }));
  if (answer.status === 404) return undefined;
  if (file !== path && answer.ok) {
    const headers = { location: target.pathname + url.search, "cache-control": fileCaching("", member) };
    return new Response(null, { status: 307, headers });
  }
  if ((answer.headers.get("cache-control") ?? PUBLIC) !== PUBLIC) return answer; // a rule of "_headers" sets it
  const dated = new Response(answer.body, answer);
  dated.headers.set("cache-control", fileCaching(answer.headers.get("content-type") ?? "", member));
  return dated;
}

/** Browsers keep a page for "back", even after its visitor has signed out: members pages forbid it. */
function fileCaching(type, member) {
  return member && type.startsWith("text/html") ? "no-store" : PUBLIC;
}

/** The nearest 404.html upwards. That of a members folder is for members. */
async function notFound({ request, url, path, env, member }) {
  for (let end = path.lastIndexOf("/"); end >= 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    const known = config.notFound.find((one) => one.folder === folder);
    if (known && isReading(request) && (member || !known.guarded)) {
      const answer = await env.ASSETS.fetch(new URL(escapePath(`${folder}/404`), url));
      const type = answer.headers.get("content-type") ?? "text/html; charset=utf-8";
      const headers = new Headers({ "content-type": type, "cache-control": fileCaching(type, member) });
      return new Response(request.method === "HEAD" ? null : answer.body, { status: 404, headers });
    }
    if (end === 0) break;
  }
  return refuse(request, 404, "not_found", "there is no page at this address");
}

/** Runs the site's own Worker, which gets the member on members routes only. */
async function askWorker(visit) {
  const { request, env, ctx, member } = visit;
  const headers = new Headers(request.headers);
  for (const name of ["id", "email", "name"]) headers.delete(`x-pages-member-${name}`);
  const who = member && { id: member.id, email: member.email, name: member.name };
  for (const [name, value] of Object.entries(who ?? {})) headers.set(`x-pages-member-${name}`, headerText(value));
  let fallsBack = false;
  const context = {
    waitUntil: (promise) => ctx.waitUntil(promise),
    passThroughOnException: () => {
      fallsBack = true;
    },
    props: ctx.props,
    member: who,
  };
  try {
    return await callWorker(new Request(request, { headers }), siteEnv(env), context);
  } catch (error) {
    if (!fallsBack) throw error;
    console.error(error);
    return (await findFile(visit, request.method)) ?? notFound(visit);
  }
}

function callWorker(request, env, context) {
  const worker = site.default;
  if (typeof worker === "function") return new worker(context, env).fetch(request);
  return worker.fetch(request, env, context);
}

/** Names that are not plain text are percent-encoded. */
function headerText(value) {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}

/** The bindings without those of the front door. */
function siteEnv(env) {
  const own = {};
  for (const [name, value] of Object.entries(env ?? bound)) {
    if (!name.startsWith("PAGES_")) own[name] = value;
  }
  return own;
}

/** Keeps members pages out of shared caches. */
function keepPrivate(answer) {
  if (answer.status === 101) return answer;
  const kept = new Response(answer.body, answer);
  const said = kept.headers.get("cache-control") ?? "";
  if (!/\b(private|no-store)\b/.test(said)) kept.headers.set("cache-control", said ? "private, no-cache" : "no-store");
  kept.headers.append("vary", "Cookie");
  return kept;
}
