// What a request path is, and which routes cover it: the rules of the platform, on which the members gate stands.

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/gu;

/** The path decoded once, in Unicode form C, or what is wrong with it. */
export function canonical(pathname) {
  if (/%2f/i.test(pathname)) return { fault: "the path holds an encoded slash" };
  let decoded;
  try {
    decoded = decodeURIComponent(pathname).normalize("NFC");
  } catch {
    return { fault: 'the path holds a "%" without two hexadecimal digits, or is no UTF-8' };
  }
  if (/[\x00-\x1f\x7f-\x9f%\\]/.test(decoded))
    return { fault: "the path holds a backslash, a percent sign or a control character" };
  const fault = segmentFault(decoded);
  if (fault) return { fault };
  // Compatibility characters become dots and slashes in programs that normalise later.
  const compat = decoded.normalize("NFKC");
  if (compat.split("/").length !== decoded.split("/").length || /[\\%]/.test(compat))
    return { fault: "the path holds a character that stands for a slash" };
  const compatFault = segmentFault(compat);
  return compatFault ? { fault: compatFault } : { decoded };
}

function segmentFault(path) {
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return "the path holds a dot segment";
  return path.includes("//") ? "the path holds an empty segment" : undefined;
}

/** A decoded path percent-encoded in one way. */
export const escapePath = (path) => path.split("/").map(encodeURIComponent).join("/");

/** What the most forgiving program might make of a path. Comparing in it can only close a page. */
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

/** The paths that the file at a path can be known by. */
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

/** A path of this site to go to, undefined for anything else. */
export function localTarget(target) {
  if (typeof target !== "string" || !target.startsWith("/") || /[^\x21-\x7e]/.test(target)) return undefined;
  const path = target.split(/[?#]/)[0];
  if (path.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return undefined;
  return canonical(path).fault ? undefined : target;
}
