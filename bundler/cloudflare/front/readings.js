// All readings of one request path, by the rules of the platform, on which the members gate depends. A Worker gets the path as sent, and
// may decode, merge and resolve it in any way.
//
// Readings are strings with one byte in each character: a decoded path need not be UTF-8.

const MAX_READINGS = 256;
const MAX_BYTES = 256 * 1024;

const bytesOf = (text) => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");

/** The text of bytes; each byte that is not UTF-8 becomes U+FFFD. */
export function textOf(bytes) {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const buffer = Uint8Array.from(bytes, (char) => char.charCodeAt(0));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(buffer);
}

const unescapeOnce = (path) =>
  path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

const mergeSlashes = (path) => path.replace(/\/{2,}/g, "/");

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/gu;

/** Without invisible characters, in compatible form, with slashes for all that looks like one. */
function visible(path) {
  if (!/[\x7f-\xff\x00-\x1f\\]/.test(path)) return path;
  const text = textOf(path).normalize("NFKC");
  return bytesOf(text.replace(/[\\⁄∕⧸∖⧵]/g, "/").replace(INVISIBLE, ""));
}

/** The path of an address without a scheme: "/b" for "//a/b". */
function withoutAuthority(path) {
  if (!path.startsWith("//")) return path;
  const rest = path.replace(/^\/+/, "");
  const slash = rest.indexOf("/");
  return slash < 0 ? "/" : rest.slice(slash);
}

/** Cut at a "?" or a "#" that was encoded. */
function withoutQuery(path) {
  const at = path.search(/[?#]/);
  return at > 0 ? path.slice(0, at) : path;
}

const isDots = (segment) => (segment === "." || segment === ".." ? segment.length : 0);

/** isDots for programs that decode dots first, and drop parameters and spaces at the end of a segment. */
function isLooselyDots(segment) {
  const bare = segment.split(";")[0].replace(/(?: |%20)+$/, "");
  const dots = bare.replace(/%2e/gi, ".");
  return isDots(dots);
}

function resolveDots(path, dotsIn) {
  if (!path.startsWith("/") || !path.split("/").some((segment) => dotsIn(segment) > 0)) return path;
  const kept = [];
  let last = 0;
  for (const segment of path.slice(1).split("/")) {
    last = dotsIn(segment);
    if (last === 0) kept.push(segment);
    else if (last === 2) kept.pop();
  }
  if (last > 0) kept.push("");
  return `/${kept.join("/")}`;
}

const steps = [
  unescapeOnce,
  mergeSlashes,
  visible,
  withoutAuthority,
  withoutQuery,
  (path) => resolveDots(path, isDots),
  (path) => resolveDots(path, isLooselyDots),
];

/** The path as sent and all its other readings, undefined for too many. */
export function readings(sent) {
  const all = new Set([sent]);
  let size = sent.length;
  for (const path of all) {
    for (const step of steps) {
      const reading = step(path);
      if (all.has(reading)) continue;
      size += reading.length;
      if (all.size === MAX_READINGS || size > MAX_BYTES) return undefined;
      all.add(reading);
    }
  }
  return [...all];
}

/** The first thing in a decoded path that is refused in every reading, undefined for none. */
function pathFault(decoded) {
  if (/[\\\p{Cc}\ufffd]/u.test(decoded)) return "the path holds a backslash or a control character";
  const compat = decoded.normalize("NFKC");
  for (const sign of ["/", "\\", "%"]) {
    if (compat.split(sign).length !== decoded.split(sign).length)
      return "the path holds a character that stands for a slash";
  }
  const dots = (path) => path.split("/").filter((segment) => isDots(segment) > 0).length;
  return dots(compat) === dots(decoded) ? undefined : "the path holds characters that stand for a dot segment";
}

function segmentFault(path) {
  const all = path.slice(1).split("/");
  return all.some((segment, at) => isDots(segment) > 0 || (segment === "" && at < all.length - 1));
}

const hasLooseDots = (path) =>
  textOf(visible(bytesOf(path)))
    .split("/")
    .some((segment) => isLooselyDots(segment) > 0);

/**
 * The one path of a request: "decoded" for routes, where an encoded slash stays "%2F", "file" for files ("" where none can
 * be), and its further "readings", undefined where there are none. Or its "fault".
 * @returns {{ fault?: string, decoded?: string, file?: string, readings?: string[] }}
 */
export function canonical(pathname) {
  const sent = bytesOf(pathname);
  if (/[\x00-\x20#\\\x7f-\xff]/.test(sent)) return { fault: "the path holds a character that must be percent-encoded" };
  if (/%(?![0-9a-f]{2})/i.test(sent)) return { fault: 'the path holds a "%" without two hexadecimal digits' };
  const decode = (path) => decodeURIComponent(path).normalize("NFC");
  let once;
  try {
    once = decode(sent);
  } catch {
    return { fault: "the path is not UTF-8" };
  }
  const fault = pathFault(once);
  if (fault) return { fault };
  const slashes = (path) => path.split("/").length;
  const odd = /[%?#]/.test(once) || segmentFault(once) || hasLooseDots(once) || slashes(once) !== slashes(sent);
  if (!odd) return { decoded: once, file: once };
  const all = readings(sent);
  if (!all) return { fault: "the path can be read in too many ways" };
  const resolved = resolveDots(sent, (segment) => (/[; ]/.test(segment) ? 0 : isLooselyDots(segment)));
  const decoded = resolved
    .split("/")
    .map((segment) => decode(segment.replace(/%2f/gi, "%252F")))
    .join("/");
  const file = mergeSlashes(decode(resolved));
  const isFile = !pathFault(decode(resolved)) && !segmentFault(file);
  return { decoded, file: isFile ? file : "", readings: all.map(textOf) };
}
