// https://url.spec.whatwg.org/ Go parses and serialises; a URL here is one
// string that holds where its members begin and end (members.go).
import { host } from "../../webidl/js/host.js";
import { define, guarded, iterable, need } from "../../webidl/js/idl.js";
import { find, put, remove, valuesOf } from "../../webidl/js/pairs.js";

// Where the two positions of a member stand in the string, when they are short.
const HREF = 1,
  PROTOCOL = 3,
  USERNAME = 5,
  PASSWORD = 7,
  HOST = 9,
  HOSTNAME = 11,
  PORT = 13,
  PATHNAME = 15,
  SEARCH = 17,
  HASH = 19,
  ORIGIN = 21;
const SHORT = 1;

// A scalar value string; the host makes one of a string by itself.
function text(value) {
  return typeof value === "string" ? value : `${value}`;
}

// The member of a URL.
function cut(packed, at) {
  if (packed.charCodeAt(0) !== SHORT) return long(packed, at);
  return packed.slice(packed.charCodeAt(at), packed.charCodeAt(at + 1));
}

let hrefOf, set;

// The platform has createObjectURL and revokeObjectURL, and they throw: code that tests whether
// they exist must get the same result here.
export class URL {
  #packed;
  #params; // the searchParams, from the first read on
  static {
    hrefOf = (url) => cut(url.#packed, HREF);
    set = (url, packed) => {
      url.#packed = packed;
    };
  }
  constructor(url, base) {
    // Creating an object for the arguments would take longer than the rest; without arguments, the URL is malformed.
    const given = typeof url === "string" ? url : text(url);
    this.#packed = base === undefined ? host.url_parse(given) : host.url_parse(given, text(base));
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
  get href() {
    return cut(this.#packed, HREF);
  }
  set href(value) {
    set(this, host.url_parse(text(value)));
    this.#refresh();
  }
  get origin() {
    return cut(this.#packed, ORIGIN);
  }
  get protocol() {
    return cut(this.#packed, PROTOCOL);
  }
  set protocol(value) {
    set(this, changed(this, "protocol", value));
  }
  get username() {
    return cut(this.#packed, USERNAME);
  }
  set username(value) {
    set(this, changed(this, "username", value));
  }
  get password() {
    return cut(this.#packed, PASSWORD);
  }
  set password(value) {
    set(this, changed(this, "password", value));
  }
  get host() {
    return cut(this.#packed, HOST);
  }
  set host(value) {
    set(this, changed(this, "host", value));
  }
  get hostname() {
    return cut(this.#packed, HOSTNAME);
  }
  set hostname(value) {
    set(this, changed(this, "hostname", value));
  }
  get port() {
    return cut(this.#packed, PORT);
  }
  set port(value) {
    set(this, changed(this, "port", value));
  }
  get pathname() {
    return cut(this.#packed, PATHNAME);
  }
  set pathname(value) {
    set(this, changed(this, "pathname", value));
  }
  get search() {
    return cut(this.#packed, SEARCH);
  }
  set search(value) {
    set(this, changed(this, "search", value));
    this.#refresh();
  }
  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams();
      this.#refresh();
      setOwner(this.#params, (query) => set(this, changed(this, "search", query)));
    }
    return this.#params;
  }
  get hash() {
    return cut(this.#packed, HASH);
  }
  set hash(value) {
    set(this, changed(this, "hash", value));
  }
  toString() {
    return cut(this.#packed, HREF);
  }
  toJSON() {
    return cut(this.#packed, HREF);
  }
  // Puts the new query into the existing searchParams.
  #refresh() {
    if (this.#params !== undefined) setList(this.#params, host.form_decode(cut(this.#packed, SEARCH).slice(1)));
  }
}

// A member of a URL whose positions are long.
function long(packed, at) {
  const width = packed.charCodeAt(0);
  const position = (n) => {
    let value = 0;
    for (let i = 0; i < width; i++) value = (value << 7) | packed.charCodeAt(1 + n * width + i);
    return value;
  };
  return packed.slice(position(at - 1), position(at));
}

// The string of a URL with one of its parts changed.
function changed(url, name, value) {
  return host.url_set(hrefOf(url), name, text(value));
}

let listOf, setList, setOwner;

export class URLSearchParams {
  #list;
  #owner = null; // notified of each change
  static {
    listOf = guarded("URLSearchParams", (params) => params.#list);
    setList = (params, list) => {
      params.#list = list;
    };
    setOwner = (params, owner) => {
      params.#owner = owner;
    };
  }
  constructor(init = "") {
    if ((typeof init === "object" && init !== null) || typeof init === "function") {
      this.#list = pairsOf(init);
    } else if (init === "") {
      this.#list = [];
    } else {
      const text = `${init}`.toWellFormed();
      this.#list = host.form_decode(text.startsWith("?") ? text.slice(1) : text);
    }
  }
  get size() {
    return this.#list.length / 2;
  }
  append(name, value) {
    need(arguments.length, 2, "URLSearchParams.append");
    this.#list.push(usv(name), usv(value));
    this.#changed();
  }
  delete(name, value = undefined) {
    need(arguments.length, 1, "URLSearchParams.delete");
    remove(this.#list, usv(name), value === undefined ? undefined : usv(value));
    this.#changed();
  }
  get(name) {
    need(arguments.length, 1, "URLSearchParams.get");
    const at = find(this.#list, usv(name));
    return at < 0 ? null : this.#list[at + 1];
  }
  getAll(name) {
    need(arguments.length, 1, "URLSearchParams.getAll");
    return valuesOf(this.#list, usv(name));
  }
  has(name, value = undefined) {
    need(arguments.length, 1, "URLSearchParams.has");
    const key = usv(name);
    return value === undefined ? find(this.#list, key) >= 0 : valuesOf(this.#list, key).includes(usv(value));
  }
  set(name, value) {
    need(arguments.length, 2, "URLSearchParams.set");
    put(this.#list, usv(name), usv(value));
    this.#changed();
  }
  sort() {
    const list = this.#list,
      pairs = [];
    for (let i = 0; i < list.length; i += 2) pairs.push([list[i], list[i + 1]]);
    pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#list = pairs.flat();
    this.#changed();
  }
  toString() {
    return host.form_encode(this.#list);
  }
  #changed() {
    if (this.#owner !== null) this.#owner(host.form_encode(this.#list));
  }
}

function usv(value) {
  return `${value}`.toWellFormed();
}

function pairsOf(init) {
  const out = [];
  if (init[Symbol.iterator] !== undefined && init[Symbol.iterator] !== null) {
    for (const pair of init) {
      const items = typeof pair === "object" && pair !== null ? [...pair] : undefined;
      if (items?.length !== 2)
        throw new TypeError("URLSearchParams constructor: each item must be a pair of a name and a value");
      out.push(usv(items[0]), usv(items[1]));
    }
    return out;
  }
  for (const key of Reflect.ownKeys(init)) {
    if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
    const name = usv(key);
    put(out, name, usv(init[key])); // two keys may become one name
  }
  return out;
}

export function install() {
  Object.defineProperty(URL, "length", { value: 1 }); // base is optional
  define("URL", URL);
  iterable(URLSearchParams, "URLSearchParams", listOf);
  define("URLSearchParams", URLSearchParams);
}
