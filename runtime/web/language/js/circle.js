// V8's addition to "Converting circular structure to JSON": the way from an object back to itself.
// The engine reports only that a circle exists, so that this file searches for it again, in the
// values that can be read without calling the author's code.
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { keys, hasOwn } = Object,
  { isArray } = Array,
  { isInteger } = Number;
const { get, set, delete: remove } = Map.prototype;

const first = 2; // lines between the first object and the omitted ones
const enough = 50_000; // properties that are looked at

// The value that JSON.stringify writes; undefined if a replacer chooses it.
let written;

/** Calls JSON.stringify, whose errors describe this value. */
export function writing(stringify, value, replacer, space) {
  const outer = written;
  written = replacer === undefined || replacer === null ? value : undefined;
  try {
    return stringify(value, replacer, space);
  } finally {
    written = outer;
  }
}

// The value of an object's property, its own or inherited; undefined for a getter or a trap.
function held(object, name) {
  for (; object !== null; object = getPrototypeOf(object)) {
    const property = getOwnPropertyDescriptor(object, name);
    if (property !== undefined) return hasOwn(property, "value") ? property.value : undefined;
  }
  return undefined;
}

// Values that JSON.stringify visits, without toJSON.
const isEntered = (value) => typeof value === "object" && value !== null && held(value, "toJSON") === undefined;

// V8's name for an object's constructor.
function maker(object) {
  const tag = held(object, Symbol.toStringTag);
  if (typeof tag === "string") return tag;
  for (let proto = getPrototypeOf(object); proto !== null; proto = getPrototypeOf(proto)) {
    const property = getOwnPropertyDescriptor(proto, "constructor");
    const name = typeof property?.value === "function" ? held(property.value, "name") : undefined;
    if (typeof name === "string" && name !== "") return name;
  }
  return "Object";
}

const level = (object, key) => {
  const all = isArray(object);
  return {
    __proto__: null,
    object,
    key,
    all,
    names: all ? undefined : keys(object),
    count: all ? object.length : undefined,
    next: 0,
  };
};

// The objects from the first of a circle to the last, each with the key that led to it,
// and the key that closes it; undefined if none is found.
function found(root) {
  const levels = { __proto__: null },
    depths = new Map();
  let depth = 0,
    looked = 0;
  const enter = (object, key) => {
    apply(set, depths, [object, depth]);
    levels[depth++] = level(object, key);
  };
  if (isEntered(root)) enter(root, "");
  while (depth > 0) {
    const top = levels[depth - 1];
    if (top.next === (top.all ? top.count : top.names.length)) {
      apply(remove, depths, [top.object]);
      depth--;
      continue;
    }
    if (looked++ === enough) return undefined;
    const key = top.all ? top.next : top.names[top.next];
    top.next++;
    const property = getOwnPropertyDescriptor(top.object, key);
    const value = property !== undefined && hasOwn(property, "value") ? property.value : undefined;
    if (!isEntered(value)) continue;
    const from = apply(get, depths, [value]);
    if (from !== undefined) return { levels, from, depth, closing: key };
    enter(value, key);
  }
  return undefined;
}

const named = (key) => (isInteger(key) ? `index ${key}` : key === "" ? "<anonymous>" : `property '${key}'`);

/** V8's message for a circle in the argument of JSON.stringify. */
export function circular() {
  const message = "Converting circular structure to JSON";
  if (written === undefined) return message;
  try {
    const circle = found(written);
    if (circle === undefined) return message;
    const { levels, from, depth, closing } = circle;
    const line = (at) =>
      `\n    |     ${named(levels[at].key)} -> object with constructor '${maker(levels[at].object)}'`;
    let text = `${message}\n    --> starting at object with constructor '${maker(levels[from].object)}'`,
      at = from + 1;
    for (; at < depth && at <= from + first; at++) text += line(at);
    if (at < depth - 1) text += "\n    |     ...";
    if (at < depth) text += line(depth - 1);
    return `${text}\n    --- ${named(closing)} closes the circle`;
  } catch {
    return message; // a trap of a proxy threw, or the stack is full
  }
}
