// Splitting by an expression. The engine follows the standard's steps (ECMA-262, 22.2.6.14) and tries it at each position, which takes most
// of a Worker's time for the lines of a log. A search for the next match gives the same result, at a cost for each part instead of each
// character. The engine's steps remain for short texts and parts, and for programs that could notice the difference, since they have
// changed RegExp or this expression.

const { apply, getPrototypeOf, defineProperty } = Reflect;
const { RegExp } = globalThis;
const { prototype } = RegExp;
const { exec, [Symbol.split]: original } = prototype;
const { slice, charCodeAt, includes } = String.prototype;
const { species } = Symbol,
  { hasOwn } = Object;

const longText = 256,
  fewParts = 8,
  longPart = 12; // characters, parts, characters of each on average

const isOwn = (expression) =>
  typeof expression === "object" &&
  expression !== null &&
  getPrototypeOf(expression) === prototype &&
  expression.exec === exec &&
  prototype.exec === exec &&
  expression.constructor === RegExp &&
  RegExp[species] === RegExp &&
  !hasOwn(expression, "flags");

// The position after the character at a position.
function after(text, at, unicode) {
  if (!unicode || at + 1 >= text.length || (apply(charCodeAt, text, [at]) & 0xfc00) !== 0xd800) return at + 1;
  return (apply(charCodeAt, text, [at + 1]) & 0xfc00) === 0xdc00 ? at + 2 : at + 1;
}

// The flags of an expression that looks on: with g and without y.
function looking(flags) {
  let kept = apply(includes, flags, ["g"]) ? "" : "g";
  for (let i = 0; i < flags.length; i++) if (flags[i] !== "y") kept += flags[i];
  return kept;
}

// The parts of a text, at most so many; null when there are many short ones.
function parted(text, finder, unicode, most) {
  const parts = [],
    args = [text];
  let count = 0,
    begin = 0,
    matches = 0;
  for (let from = 0; from < text.length; ) {
    finder.lastIndex = from;
    const match = apply(exec, finder, args);
    if (match === null) break;
    const { index, length } = match,
      end = finder.lastIndex;
    if (index >= text.length) break;
    if (end === begin) {
      from = after(text, begin, unicode); // an empty match at the end of the last part
      continue;
    }
    if (matches++ === fewParts && begin < fewParts * longPart) return null;
    parts[count++] = apply(slice, text, [begin, index]);
    if (count === most) return parts;
    begin = from = end;
    for (let i = 1; i < length; i++) {
      parts[count++] = match[i];
      if (count === most) return parts;
    }
  }
  parts[count] = apply(slice, text, [begin]);
  return parts;
}

// A class method, whose code is strict: this keeps the value that the caller gave it.
const { [Symbol.split]: split } = class {
  [Symbol.split](string, limit) {
    const most = limit === undefined ? 2 ** 32 - 1 : typeof limit === "number" ? limit >>> 0 : 0;
    if (typeof string === "string" && string.length >= longText && most > 0 && isOwn(this)) {
      const flags = looking(/** @type {any} */ (this).flags),
        unicode = apply(includes, flags, ["u"]) || apply(includes, flags, ["v"]);
      const parts = parted(string, new RegExp(/** @type {any} */ (this), flags), unicode, most);
      if (parts !== null) return parts;
    }
    return apply(original, this, [string, limit]);
  }
}.prototype;

/** Makes RegExp search for matches when it splits long texts. */
export function splitByMatches() {
  defineProperty(prototype, Symbol.split, { value: split, writable: true, enumerable: false, configurable: true });
}
