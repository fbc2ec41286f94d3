import * as cookieLib from "cookie";
import mimeLib from "mime";
import { minimatch } from "minimatch";
import { compile, match, parse } from "path-to-regexp";
import slugifyLib from "slugify";
import { decodeTime, isValid, monotonicFactory, ulid as newUlid } from "ulid";

/** https://github.com/ulid/javascript#readme */
export function ulid() {
  const next = monotonicFactory(), a = next(150000), b = next(150000);
  return { length: newUlid().length, time: decodeTime("01ARYZ6S41TSV4RRFFQ69G5FAV"), start: newUlid(1469918176385).slice(0, 10), order: a < b, valid: [isValid(a), isValid("nope")] };
}

/** https://github.com/jshttp/cookie#readme */
export function cookie() {
  return { parsed: { ...cookieLib.parse("foo=bar; equation=E%3Dmc%5E2; foo=second") }, text: cookieLib.serialize("name", "a b;ö", { httpOnly: true, maxAge: 604800, sameSite: "lax", path: "/", expires: new Date(0), partitioned: true, secure: true }) };
}

/** https://github.com/broofa/mime#readme */
export function mime() { return { type: mimeLib.getType("dir/text.TXT"), wasm: mimeLib.getType("wasm"), extension: mimeLib.getExtension("image/jpeg; q=1"), none: mimeLib.getType("x.nope") }; }

/** https://github.com/isaacs/minimatch#readme */
export function globs() {
  return { js: minimatch("bar.foo", "*.foo"), plus: minimatch("bar.foo", "*.bar"), deep: minimatch("src/a/b/c.ts", "src/**/*.{ts,tsx}"), not: minimatch("a.js", "!(*.ts)"), braces: minimatch.braceExpand("{a,b}{1..3}"), posix: minimatch("é.txt", "[[:alpha:]].txt"), filtered: ["a.js", "b.css", ".c.js"].filter(minimatch.filter("*.js")) };
}

/** https://github.com/pillarjs/path-to-regexp#readme */
export function paths() {
  const fn = match("/users/:id{/delete}"), wild = match("/*path");
  let refused = "";
  try {
    parse("/:foo/(.*)");
  } catch (error) {
    refused = (error as Error).name;
  }
  const found = fn("/users/123/delete");
  return { found: found && { path: found.path, params: { ...found.params } }, wild: { ...(wild("/a/b%20c/d") as { params: object }).params }, none: fn("/x"), url: compile("/u/:name/*rest")({ name: "a b", rest: ["x", "y/z"] }), refused };
}

/** https://github.com/simov/slugify#readme */
export function slugify() { return { plain: slugifyLib("some string"), strict: slugifyLib("Ünïcode & $ ♥ ПРИВЕТ!", { lower: true, strict: true }), german: slugifyLib("Äpfel über", { locale: "de", replacement: "_" }) }; }
