// https://urlpattern.spec.whatwg.org/ Go compiles patterns and splits inputs; the regular expressions are made and run here.
import { host } from "../../webidl/js/host.js";
import { define, dictionary, guarded } from "../../webidl/js/idl.js";

const PARTS = ["protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"];
const MEMBERS = [...PARTS, "baseURL"];
const SCHEMES = ["http", "https", "ws", "wss", "ftp", "file"];
const FIELDS = 4; // of each part in the host's result

const { exec } = RegExp.prototype;
const any = expression("^(.*)$", "v"); // most parts of most patterns

let stateOf;

export class URLPattern {
  // parts: pattern, expression, names of groups and whether its author wrote
  // expressions, of each part in turn
  #state;
  static {
    stateOf = guarded("URLPattern", (pattern) => pattern.#state);
  }
  constructor() {
    const [input, base, options] = overload(arguments);
    const given = convert(input);
    const protocol = host.pattern_protocol(given, base);
    const scheme = protocol === null ? any : expression(protocol, "v");
    const special = SCHEMES.some((name) => exec.call(scheme, name) !== null);
    const parts = host.pattern_compile(given, base, special, !!options?.ignoreCase);
    const ignoreCase = parts.pop();
    for (let at = 0; at < PARTS.length; at++) {
      const source = parts[FIELDS * at + 1],
        flags = ignoreCase && at > 4 ? "vi" : "v";
      parts[FIELDS * at + 1] = source === "^(.*)$" ? any : expression(source, flags);
    }
    this.#state = parts;
  }
  get protocol() {
    return patternOf(this, 0);
  }
  get username() {
    return patternOf(this, 1);
  }
  get password() {
    return patternOf(this, 2);
  }
  get hostname() {
    return patternOf(this, 3);
  }
  get port() {
    return patternOf(this, 4);
  }
  get pathname() {
    return patternOf(this, 5);
  }
  get search() {
    return patternOf(this, 6);
  }
  get hash() {
    return patternOf(this, 7);
  }
  get hasRegExpGroups() {
    const parts = stateOf(this);
    return PARTS.some((_, at) => parts[FIELDS * at + 3]);
  }
  test() {
    const parts = stateOf(this),
      values = valuesOf(convert(arguments[0]), baseOf(arguments[1]));
    return values !== null && values.every((value, at) => exec.call(parts[FIELDS * at + 1], value) !== null);
  }
  exec() {
    const parts = stateOf(this),
      input = convert(arguments[0]),
      base = baseOf(arguments[1]);
    const values = valuesOf(input, base);
    if (values === null) return null;
    const result = { inputs: [shown(input)] };
    if (base !== null) result.inputs.push(base);
    for (let at = 0; at < PARTS.length; at++) {
      const match = exec.call(parts[FIELDS * at + 1], values[at]),
        names = parts[FIELDS * at + 2];
      if (match === null) return null;
      const groups = {};
      for (let i = 0; i < names.length; i++) groups[names[i]] = match[i + 1];
      result[PARTS[at]] = { input: values[at], groups };
    }
    return result;
  }
}

function patternOf(pattern, at) {
  return stateOf(pattern)[FIELDS * at];
}

function expression(source, flags) {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new TypeError(`URLPattern: ${error.message} in the regular expression ${source}`);
  }
}

/**
 * (input, baseURL, options) or (input, options)
 * @param {any} given
 */
function overload([input, second, third]) {
  const isOptions =
    second === undefined || second === null || typeof second === "object" || typeof second === "function";
  if (!isOptions) return [input, baseOf(second), dictionary(third, "URLPattern constructor: the third argument")];
  if (third !== undefined)
    return [input, baseOf(`${second}`), dictionary(third, "URLPattern constructor: the third argument")];
  return [input, null, dictionary(second, "URLPattern constructor: the second argument")];
}

function baseOf(base) {
  return base === undefined ? null : `${base}`.toWellFormed();
}

// A URLPatternInit as the list of its members, anything else as text.
function convert(input) {
  if (input === undefined || input === null) return [];
  if (typeof input !== "object" && typeof input !== "function") return `${input}`.toWellFormed();
  const list = new Array(MEMBERS.length);
  for (const name of MEMBERS.toSorted()) {
    const value = input[name];
    list[MEMBERS.indexOf(name)] = value === undefined ? undefined : `${value}`.toWellFormed();
  }
  return list;
}

function valuesOf(input, base) {
  return host.pattern_input(input, base);
}

function shown(input) {
  if (typeof input === "string") return input;
  const init = {};
  for (let at = 0; at < input.length; at++) if (input[at] !== undefined) init[MEMBERS[at]] = input[at];
  return init;
}

export function install() {
  define("URLPattern", URLPattern);
}
