// https://url.spec.whatwg.org/ Go parses and serialises; a URL here is one
// string of eleven lines, cut up when a part is first asked for.
import { host } from "./host.js";
import { define, guarded, iterable, need } from "./idl.js";

const HREF = 0, PROTOCOL = 1, USERNAME = 2, PASSWORD = 3, HOST = 4, HOSTNAME = 5, PORT = 6, PATHNAME = 7, SEARCH = 8, HASH = 9, ORIGIN = 10;

// The platform has createObjectURL and revokeObjectURL, and they throw: code that
// asks whether they are there must take the same way here.
export class URL {
  #packed;
  #parts = null;
  #params = null;
  constructor(url, base = undefined) {
    need(arguments.length, 1, "URL constructor");
    this.#packed = base === undefined ? host.url_parse(`${url}`.toWellFormed()) : host.url_parse(`${url}`.toWellFormed(), `${base}`.toWellFormed());
  }
  static canParse(url, base = undefined) {
    need(arguments.length, 1, "URL.canParse");
    return URL.parse(url, base) !== null;
  }
  static createObjectURL(object) {
    need(arguments.length, 1, "URL.createObjectURL");
    throw new Error("URL.createObjectURL() is not implemented");
  }
  static revokeObjectURL(url) {
    need(arguments.length, 1, "URL.revokeObjectURL");
    throw new Error("URL.revokeObjectURL() is not implemented");
  }
  static parse(url, base = undefined) {
    need(arguments.length, 1, "URL.parse");
    try {
      return new URL(url, base);
    } catch (error) {
      if (error.code === "ERR_INVALID_URL") return null;
      throw error;
    }
  }
  #part(at) {
    return (this.#parts ??= this.#packed.split("\n"))[at];
  }
  #set(name, value) {
    this.#packed = host.url_set(this.#part(HREF), name, `${value}`.toWellFormed());
    this.#parts = null;
  }
  #refresh() {
    if (this.#params !== null) setList(this.#params, host.form_decode(this.#part(SEARCH).slice(1)));
  }
  get href() { return this.#part(HREF); }
  set href(value) {
    this.#packed = host.url_parse(`${value}`.toWellFormed());
    this.#parts = null;
    this.#refresh();
  }
  get origin() { return this.#part(ORIGIN); }
  get protocol() { return this.#part(PROTOCOL); }
  set protocol(value) { this.#set("protocol", value); }
  get username() { return this.#part(USERNAME); }
  set username(value) { this.#set("username", value); }
  get password() { return this.#part(PASSWORD); }
  set password(value) { this.#set("password", value); }
  get host() { return this.#part(HOST); }
  set host(value) { this.#set("host", value); }
  get hostname() { return this.#part(HOSTNAME); }
  set hostname(value) { this.#set("hostname", value); }
  get port() { return this.#part(PORT); }
  set port(value) { this.#set("port", value); }
  get pathname() { return this.#part(PATHNAME); }
  set pathname(value) { this.#set("pathname", value); }
  get search() { return this.#part(SEARCH); }
  set search(value) {
    this.#set("search", value);
    this.#refresh();
  }
  get searchParams() {
    if (this.#params === null) {
      this.#params = new URLSearchParams();
      setList(this.#params, host.form_decode(this.#part(SEARCH).slice(1)));
      setOwner(this.#params, (query) => this.#set("search", query));
    }
    return this.#params;
  }
  get hash() { return this.#part(HASH); }
  set hash(value) { this.#set("hash", value); }
  toString() { return this.#part(HREF); }
  toJSON() { return this.#part(HREF); }
}

let listOf, setList, setOwner;

export class URLSearchParams {
  #list;
  #owner = null; // told of each change
  static {
    listOf = guarded("URLSearchParams", (params) => params.#list);
    setList = (params, list) => { params.#list = list; };
    setOwner = (params, owner) => { params.#owner = owner; };
  }
  constructor(init = "") {
    if (typeof init === "object" && init !== null || typeof init === "function") {
      this.#list = pairsOf(init);
    } else if (init === "") {
      this.#list = [];
    } else {
      const text = `${init}`.toWellFormed();
      this.#list = host.form_decode(text.startsWith("?") ? text.slice(1) : text);
    }
  }
  get size() { return this.#list.length / 2; }
  append(name, value) {
    need(arguments.length, 2, "URLSearchParams.append");
    this.#list.push(usv(name), usv(value));
    this.#changed();
  }
  delete(name, value = undefined) {
    need(arguments.length, 1, "URLSearchParams.delete");
    const key = usv(name), only = value === undefined ? undefined : usv(value);
    const kept = [], list = this.#list;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] !== key || (only !== undefined && list[i + 1] !== only)) kept.push(list[i], list[i + 1]);
    }
    this.#list = kept;
    this.#changed();
  }
  get(name) {
    need(arguments.length, 1, "URLSearchParams.get");
    const at = find(this.#list, usv(name), undefined);
    return at < 0 ? null : this.#list[at + 1];
  }
  getAll(name) {
    need(arguments.length, 1, "URLSearchParams.getAll");
    const key = usv(name), out = [], list = this.#list;
    for (let i = 0; i < list.length; i += 2) if (list[i] === key) out.push(list[i + 1]);
    return out;
  }
  has(name, value = undefined) {
    need(arguments.length, 1, "URLSearchParams.has");
    return find(this.#list, usv(name), value === undefined ? undefined : usv(value)) >= 0;
  }
  set(name, value) {
    need(arguments.length, 2, "URLSearchParams.set");
    const key = usv(name), text = usv(value);
    const kept = [], list = this.#list;
    let done = false;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] !== key) kept.push(list[i], list[i + 1]);
      else if (!done) kept.push(key, text), done = true;
    }
    if (!done) kept.push(key, text);
    this.#list = kept;
    this.#changed();
  }
  sort() {
    const list = this.#list, pairs = [];
    for (let i = 0; i < list.length; i += 2) pairs.push([list[i], list[i + 1]]);
    pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#list = pairs.flat();
    this.#changed();
  }
  toString() { return host.form_encode(this.#list); }
  #changed() {
    if (this.#owner !== null) this.#owner(host.form_encode(this.#list));
  }
}

function usv(value) { return `${value}`.toWellFormed(); }

function find(list, name, value) {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name && (value === undefined || list[i + 1] === value)) return i;
  }
  return -1;
}

function pairsOf(init) {
  const out = [];
  if (init[Symbol.iterator] !== undefined && init[Symbol.iterator] !== null) {
    for (const pair of init) {
      const items = typeof pair === "object" && pair !== null ? [...pair] : undefined;
      if (items?.length !== 2) throw new TypeError("URLSearchParams constructor: each item must be a pair of a name and a value");
      out.push(usv(items[0]), usv(items[1]));
    }
    return out;
  }
  for (const key of Reflect.ownKeys(init)) {
    if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
    const name = usv(key), value = usv(init[key]);
    const at = find(out, name, undefined);
    if (at >= 0) out[at + 1] = value;
    else out.push(name, value);
  }
  return out;
}

export function install() {
  define("URL", URL);
  iterable(URLSearchParams, "URLSearchParams", listOf);
  define("URLSearchParams", URLSearchParams);
}
