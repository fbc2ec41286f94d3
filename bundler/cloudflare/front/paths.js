// The routes that cover a path, by the rules of the platform, on which the members gate depends.
import { canonical } from "./readings.js";

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/gu;

/** A decoded path percent-encoded in one way. */
export const escapePath = (path) => path.split("/").map(encodeURIComponent).join("/");

/** The most forgiving reading of a path. A comparison of such readings can only close a page. */
export function foldPath(path) {
  const lowered = path.normalize("NFKC").replace(/[ıİ]/g, "i").replace(/ς/g, "σ").toLowerCase().replace(INVISIBLE, "");
  return lowered
    .split(/[/\\⁄∕⧸∖⧵]/)
    .map((segment) =>
      segment
        .split(";")[0]
        .split("::")[0]
        .replace(/[. ]+$/, ""),
    )
    .filter((segment) => segment !== "")
    .map((segment) => `/${segment}`)
    .join("");
}

/** All paths that lead to the file at a path. */
function fileNames(path) {
  if (!path.endsWith(".html")) return [path];
  const short = path.slice(0, -".html".length);
  if (!short.endsWith("/index")) return [path, short];
  const folder = short.slice(0, -"/index".length);
  return [path, short, `${folder}/`, folder || "/"];
}

const segments = (path) => path.replace(/\/$/, "").split("/").length - 1;

/** One side of the table: the most specific pattern that covers a path. */
class Patterns {
  #exact = new Set();
  #trees = new Set(); // "/x" for "/x/*"

  add(pattern) {
    if (pattern.endsWith("/*")) this.#trees.add(pattern.slice(0, -2));
    else this.#exact.add(pattern);
  }

  /** How specific the match is; 0 for none. */
  rank(path) {
    if (this.#exact.has(path)) return 2 * segments(path) + 2;
    for (let at = path.replace(/\/$/, ""); ; at = at.slice(0, at.lastIndexOf("/"))) {
      if (this.#trees.has(at)) return 2 * segments(at) + 1;
      if (!at.includes("/")) return 0;
    }
  }
}

/** The routes of the manifest. */
export class RouteTable {
  #listed = new Patterns();
  #public = new Patterns();
  #members = new Patterns();

  constructor(routes) {
    for (const { pattern, access } of routes) {
      const path = pattern.normalize("NFC");
      this.#listed.add(path);
      if (access !== "members") this.#public.add(path);
      else
        for (const name of fileNames(path))
          this.#members.add(name.endsWith("/*") ? `${foldPath(name.slice(0, -1))}/*` : foldPath(name));
    }
  }

  lists(path) {
    return this.#listed.rank(path) > 0;
  }

  isGated(path) {
    const members = this.#members.rank(foldPath(path));
    return members > 0 && members >= this.#public.rank(path);
  }
}

export const isReading = (request) => request.method === "GET" || request.method === "HEAD";

/** Whether a browser asks for a page to show. */
export function isNavigation(request) {
  if (!isReading(request) || request.headers.has("upgrade")) return false;
  const mode = request.headers.get("sec-fetch-mode");
  return mode ? mode === "navigate" : (request.headers.get("accept") ?? "").includes("text/html");
}

/** Whether a page of another origin made the request. */
export function fromAnotherSite(request) {
  if (!["same-origin", "none", null].includes(request.headers.get("sec-fetch-site"))) return true;
  const origin = request.headers.get("origin");
  if (!origin) return false;
  try {
    return new URL(origin).host !== new URL(request.url).host;
  } catch {
    return true;
  }
}

/** A path of this site to go to, undefined for anything else. No reading of it may be an address of another site. */
export function localTarget(target) {
  if (typeof target !== "string" || !target.startsWith("/") || /[^\x21-\x7e]/.test(target)) return undefined;
  const sent = target.split(/[?#]/)[0];
  if (sent.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return undefined;
  const path = canonical(sent);
  if (path.fault || [sent, ...(path.readings ?? [])].some((reading) => reading.startsWith("//"))) return undefined;
  return target;
}

/** The page to show after a form: a path of this site or its own address, with unescaped letters. */
export function nextPage(target, request) {
  if (typeof target !== "string") return undefined;
  let next = target.trim();
  const { origin } = new URL(request.url);
  if (next === origin || (next.startsWith(origin) && "/?#".includes(next[origin.length])))
    next = next.slice(origin.length).replace(/^(?!\/)/, "/");
  return localTarget(next.replace(/[^\x21-\x7e]+/gu, encodeURIComponent));
}
