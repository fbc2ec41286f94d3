// The algorithms of https://nodejs.org/api/path.html, once for both systems. A
// path is a root (drive, share, leading separator) and segments.
import { needObject, needString } from "node:internal/errors";
import { createNotImplementedError } from "node:internal/absent";

const isLetter = (c) => /[A-Za-z]/.test(c ?? "");

// Resolves "." and "..": segments of a path, up to its root if it is absolute.
function reduce(text, isSeparator, absolute) {
  const out = [];
  for (const segment of split(text, isSeparator)) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") out.push(segment);
    else if (out.length > 0 && out.at(-1) !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  return out;
}

function split(text, isSeparator) {
  const out = [];
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && !isSeparator(text[i])) continue;
    out.push(text.slice(start, i));
    start = i + 1;
  }
  return out;
}

// Devices that Windows finds in every folder.
const reserved = /^(?:CON|PRN|AUX|NUL|(?:COM|LPT)[1-9\u00b9\u00b2\u00b3]):/i;

// Whether Windows could read a relative path, before or after normalization, as one of a drive or a
// device (CVE-2024-36139).
function isDangerous(path, tail) {
  return /:(?:[\\/]|$)/.test(path) || (path.includes(":") && /^[A-Za-z]:/.test(tail));
}

/** Makes the module of one system. */
export function makePath({ sep, delimiter, isSeparator, rootOf, cwd, same }) {
  const windows = sep === "\\";

  function normalize(path) {
    needString(path, "path");
    if (path.length === 0) return ".";
    const device = windows ? reserved.exec(path)?.[0] : undefined;
    if (device !== undefined) {
      const after = path.slice(device.length),
        tail = reduce(after, isSeparator, false).join(sep) || ".";
      return `.${sep}${device}${tail}${after !== "" && isSeparator(after.at(-1)) ? sep : ""}`;
    }
    const root = rootOf(path);
    const rest = path.slice(root.length);
    const trailing = rest.length > 0 && isSeparator(rest.at(-1));
    let tail = reduce(rest, isSeparator, root.absolute).join(sep);
    if (tail === "" && !root.absolute && !root.device) return trailing ? `.${sep}` : ".";
    if (tail !== "" && trailing) tail += sep;
    if (root.device === "") {
      if (windows && !root.absolute && isDangerous(path, tail)) return `.${sep}${tail}`;
      return (root.absolute ? sep : "") + tail;
    }
    if (tail === "" && !root.absolute) return `${root.device}.${trailing ? sep : ""}`;
    return root.device + (root.absolute ? sep : "") + tail;
  }

  function isAbsolute(path) {
    needString(path, "path");
    return path.length > 0 && rootOf(path).absolute;
  }

  function join(...parts) {
    for (const part of parts) needString(part, "path");
    const filled = parts.filter((part) => part.length > 0);
    if (filled.length === 0) return ".";
    let joined = filled.join(sep);
    // Two separators at the start name a share only if the first part says so.
    if (windows && !/^[\\/]{2}[^\\/]/.test(filled[0])) joined = joined.replace(/^[\\/]{2,}/, sep);
    if (windows && split(joined, isSeparator).some((segment) => reserved.test(segment)))
      return joined.replaceAll("/", sep);
    return normalize(joined);
  }

  function resolve(...parts) {
    let device = "",
      tail = "",
      absolute = false;
    for (let i = parts.length - 1; i >= -1; i--) {
      let path;
      if (i >= 0) {
        path = parts[i];
        needString(path, `paths[${i}]`);
        if (path.length === 0) continue;
      } else {
        path = cwd(device);
      }
      const root = rootOf(path);
      if (root.device !== "") {
        if (device !== "" && root.device.toLowerCase() !== device.toLowerCase()) continue;
        device ||= root.device;
      }
      if (!absolute) {
        tail = `${path.slice(root.length)}${sep}${tail}`;
        absolute = root.absolute;
      }
      if (absolute && (device !== "" || !windows)) break;
    }
    tail = reduce(tail, isSeparator, absolute).join(sep);
    return device + (absolute ? sep : "") + tail || ".";
  }

  function relative(from, to) {
    needString(from, "from");
    needString(to, "to");
    if (from === to) return "";
    const a = resolve(from),
      b = resolve(to);
    if (same(a) === same(b)) return "";
    const rootA = rootOf(a),
      rootB = rootOf(b);
    if (same(rootA.device) !== same(rootB.device)) return b;
    const listA = reduce(a.slice(rootA.length), isSeparator, true),
      listB = reduce(b.slice(rootB.length), isSeparator, true);
    let common = 0;
    while (common < listA.length && common < listB.length && same(listA[common]) === same(listB[common])) common++;
    return [...listA.slice(common).map(() => ".."), ...listB.slice(common)].join(sep);
  }

  // The start and end of the last segment of a path, after its root.
  function last(path) {
    const root = rootOf(path);
    let end = path.length;
    while (end > root.length && isSeparator(path[end - 1])) end--;
    let start = end;
    while (start > root.length && !isSeparator(path[start - 1])) start--;
    return { root, start, end };
  }

  function dirname(path) {
    needString(path, "path");
    if (path.length === 0) return ".";
    const { root, start } = last(path);
    const end = start > root.length ? start - 1 : start; // one separator: Node.js keeps the others
    if (end > root.length) return path.slice(0, end);
    if (root.length === 0) return ".";
    // "//a" is a root only on Windows; Node.js keeps it everywhere.
    if (!windows && path.startsWith("//") && start > 1 && !isSeparator(path[2] ?? "/") && end === 1) return "//";
    return path.slice(0, root.length);
  }

  function basename(path, suffix) {
    if (suffix !== undefined) needString(suffix, "suffix");
    needString(path, "path");
    const root = rootOf(path);
    const skip = windows ? (isLetter(path[0]) && path[1] === ":" ? 2 : 0) : 0;
    let end = path.length;
    while (end > skip && isSeparator(path[end - 1])) end--;
    let start = end;
    while (start > skip && !isSeparator(path[start - 1])) start--;
    const base = path.slice(start, end);
    if (suffix === undefined || suffix === "" || root === undefined) return base;
    if (suffix === path) return "";
    return base.endsWith(suffix) && base !== suffix ? base.slice(0, -suffix.length) : base;
  }

  function extname(path) {
    needString(path, "path");
    const base = basename(path);
    const dot = base.lastIndexOf(".");
    return dot <= 0 || base === ".." ? "" : base.slice(dot);
  }

  function parse(path) {
    needString(path, "path");
    if (path.length === 0) return { root: "", dir: "", base: "", ext: "", name: "" };
    const { root, start, end } = last(path);
    const base = path.slice(start, end);
    const ext = extname(base);
    const before = path.slice(0, start);
    const dir = start > root.length ? before.slice(0, -1) : before;
    return { root: path.slice(0, root.length), dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
  }

  function format(object) {
    needObject(object, "pathObject");
    const dir = object.dir || object.root;
    const ext = object.ext ? (object.ext[0] === "." ? object.ext : `.${object.ext}`) : "";
    const base = object.base || `${object.name || ""}${ext}`;
    if (!dir) return base;
    return dir === object.root ? `${dir}${base}` : `${dir}${sep}${base}`;
  }

  function toNamespacedPath(path) {
    if (!windows || typeof path !== "string" || path.length === 0) return path;
    const full = resolve(path);
    if (full.length <= 2) return path;
    if (full.startsWith("\\\\")) return full[2] !== "?" && full[2] !== "." ? `\\\\?\\UNC\\${full.slice(2)}` : path;
    return /^[A-Za-z]:\\/.test(full) ? `\\\\?\\${full}` : path;
  }

  function matchesGlob() {
    throw createNotImplementedError("path.matchesGlob");
  }

  return {
    resolve,
    normalize,
    isAbsolute,
    join,
    relative,
    toNamespacedPath,
    dirname,
    basename,
    extname,
    format,
    parse,
    matchesGlob,
    sep,
    delimiter,
    _makeLong: toNamespacedPath,
  };
}

const slash = (c) => c === "/";
const either = (c) => c === "/" || c === "\\";

// The folder that relative paths begin at is the root, and not process.cwd().
export const posix = makePath({
  sep: "/",
  delimiter: ":",
  isSeparator: slash,
  cwd: () => "/",
  same: (text) => text,
  rootOf: (path) =>
    path[0] === "/" ? { device: "", absolute: true, length: 1 } : { device: "", absolute: false, length: 0 },
});

// "C:\", "C:", "\\server\share\" or "\".
function windowsRoot(path) {
  if (isLetter(path[0]) && path[1] === ":") {
    const absolute = path.length > 2 && either(path[2]);
    return { device: path.slice(0, 2), absolute, length: absolute ? 3 : 2 };
  }
  if (!either(path[0])) return { device: "", absolute: false, length: 0 };
  const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
  if (share === null) return { device: "", absolute: true, length: 1 };
  const more = share[0].length < path.length;
  return {
    device: `\\\\${share[1]}\\${share[2]}`,
    absolute: true,
    length: share[0].length + (more ? 1 : 0),
    share: true,
  };
}

export const win32 = makePath({
  sep: "\\",
  delimiter: ";",
  isSeparator: either,
  same: (text) => text.toLowerCase(),
  rootOf: windowsRoot,
  cwd: (device) => `${device}\\`,
});

posix.posix = win32.posix = posix;
posix.win32 = win32.win32 = win32;

export default posix;
