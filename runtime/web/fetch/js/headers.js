// https://fetch.spec.whatwg.org/#headers-class A header list is one flat array
// of lower-case names and values, which is also how it goes to and from Go.
// Values may hold any Unicode text: Workers' code relies on it.
import { define, guarded, iterable, need } from "../../webidl/js/idl.js";
import { find, put, remove, valuesOf } from "../../webidl/js/pairs.js";

let stateOf, isHeaders;

export class Headers {
  #state;
  static {
    stateOf = guarded("Headers", (headers) => headers.#state);
    isHeaders = (value) => #state in value;
  }
  constructor(init = undefined) {
    this.#state = { list: init === undefined ? [] : listFrom(init), sorted: null, immutable: false };
  }
  append(name, value) {
    need(arguments.length, 2, "Headers.append");
    const key = nameOf(name),
      text = valueOf(value);
    mutable(this).push(key, text);
  }
  delete(name) {
    need(arguments.length, 1, "Headers.delete");
    remove(mutable(this), nameOf(name));
  }
  get(name) {
    need(arguments.length, 1, "Headers.get");
    return get(listOf(this), nameOf(name));
  }
  getAll(name) {
    need(arguments.length, 1, "Headers.getAll");
    if (nameOf(name) !== "set-cookie")
      throw new TypeError('getAll() can only be used with the header name "Set-Cookie".');
    return this.getSetCookie();
  }
  getSetCookie() {
    return valuesOf(listOf(this), "set-cookie");
  }
  has(name) {
    need(arguments.length, 1, "Headers.has");
    return find(listOf(this), nameOf(name)) >= 0;
  }
  set(name, value) {
    need(arguments.length, 2, "Headers.set");
    const key = nameOf(name),
      text = valueOf(value);
    put(mutable(this), key, text);
  }
}

function listOf(headers) {
  return stateOf(headers).list;
}

function mutable(headers) {
  const state = stateOf(headers);
  if (state.immutable) throw new TypeError("Can't modify immutable headers.");
  state.sorted = null;
  return state.list;
}

/** A Headers over a list that is already clean: it shares the array. */
export function headersOver(list, immutable) {
  const headers = new Headers(),
    state = stateOf(headers);
  state.list = list;
  state.immutable = immutable;
  return headers;
}

/** The values of a header, joined as fetch does; null when there is none. */
export function get(list, name) {
  const at = find(list, name);
  if (at < 0) return null;
  let out = list[at + 1];
  for (let next = find(list, name, at + 2); next >= 0; next = find(list, name, next + 2))
    out = `${out}, ${list[next + 1]}`;
  return out;
}

// Names and values repeat from request to request; valid ones are not checked again. Both sets are bounded: their content is the
// author's.
const names = new Map();
const values = new Set();
const REMEMBERED = 512;

const isEnumerable = Object.prototype.propertyIsEnumerable;

/** A header's name, checked and in lower case. */
export function nameOf(name) {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = `${name}`;
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`Invalid header name: "${text}"`);
  const lower = text.toLowerCase();
  if (names.size < REMEMBERED && typeof name === "string" && text.length < 64) names.set(text, lower);
  return lower;
}

/**
 * text without HTTP whitespace at its ends. By hand: a regular expression for the end
 * starts over at each blank of a long run inside.
 */
function trimmed(text) {
  let start = 0,
    end = text.length;
  while (start < end && blank(text.charCodeAt(start))) start++;
  while (end > start && blank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const blank = (code) => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** A header's value, checked and trimmed. */
export function valueOf(value) {
  if (values.has(value)) return value;
  const text = trimmed(`${value}`).toWellFormed();
  if (/[\0\n\r]/.test(text)) throw new TypeError(`Invalid header value: ${JSON.stringify(text)}`);
  if (values.size < REMEMBERED && text === value && text.length < 64) values.add(text);
  return text;
}

/** The list of a HeadersInit; a copy. */
export function listFrom(init) {
  if (init === null || (typeof init !== "object" && typeof init !== "function")) {
    throw new TypeError("Headers constructor: the argument is neither an object nor a sequence");
  }
  const iterator = init[Symbol.iterator],
    { entries } = /** @type {any} */ (Headers.prototype);
  if (iterator === entries && isHeaders(init)) return listOf(init).slice();
  const list = [];
  if (iterator !== undefined && iterator !== null) {
    for (const pair of init) {
      const items = typeof pair === "object" && pair !== null ? [...pair] : undefined;
      if (items?.length !== 2)
        throw new TypeError("Headers constructor: each item must be a pair of a name and a value");
      list.push(nameOf(items[0]), valueOf(items[1]));
    }
    return list;
  }
  const keys = Reflect.ownKeys(init);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (!isEnumerable.call(init, key)) continue;
    if (typeof key === "symbol") throw new TypeError("Headers constructor: a header's name cannot be a symbol");
    list.push(nameOf(key), valueOf(init[key]));
  }
  return list;
}

// https://fetch.spec.whatwg.org/#concept-header-list-sort-and-combine
function sorted(headers) {
  const state = stateOf(headers);
  if (state.sorted !== null) return state.sorted;
  const { list } = state,
    all = new Map(),
    cookies = [];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i],
      value = list[i + 1],
      known = all.get(name);
    if (name === "set-cookie") cookies.push(name, value);
    else all.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  if (cookies.length > 0) all.set("set-cookie", null);
  const out = [];
  for (const name of [...all.keys()].sort()) {
    if (name !== "set-cookie") out.push(name, all.get(name));
    else for (const item of cookies) out.push(item);
  }
  return (state.sorted = out);
}

export function install() {
  iterable(Headers, "Headers", sorted);
  define("Headers", Headers);
}
