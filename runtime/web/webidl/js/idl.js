// This file gives classes the shape that Web IDL asks for: enumerable members,
// a toStringTag, globals that are not enumerable, iterators that are live.

const { apply } = Reflect; // before any author can change it

/** Prototypes of platform objects: structuredClone refuses objects with one of them. */
export const platform = new Set();

/** Makes cls look as Web IDL says and installs it as the global `name`. */
export function define(name, cls) {
  dress(name, cls);
  expose(name, cls);
}

/** Makes cls look as Web IDL says; `name` is its name. */
export function dress(name, cls) {
  for (const key of Object.getOwnPropertyNames(cls.prototype)) {
    if (key !== "constructor") Object.defineProperty(cls.prototype, key, { enumerable: true });
  }
  for (const key of Object.getOwnPropertyNames(cls)) {
    if (typeof cls[key] === "function" && key !== "prototype") Object.defineProperty(cls, key, { enumerable: true });
  }
  Object.defineProperty(cls.prototype, Symbol.toStringTag, { value: name, configurable: true });
  platform.add(cls.prototype);
}

/** Installs a class, namespace or function of the language: a global that does not show up in a loop over globalThis. */
export function expose(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Installs an attribute of the global object. */
export function attribute(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Installs an operation of the global object. Called as a method of another
 * object it throws, as on the platform: a client that keeps fetch in a field
 * must not work here and fail there.
 */
export function operation(name, run) {
  const { [name]: method } = {
    [name]() {
      if (this !== undefined && this !== null && this !== globalThis) {
        throw new TypeError(
          `Illegal invocation: ${name} was called as a method of another object; call ${name}(…), or keep ${name}.bind(globalThis)`,
        );
      }
      return apply(run, globalThis, arguments);
    },
  };
  Object.defineProperty(method, "length", { value: run.length, configurable: true });
  attribute(name, method);
}

/** Copies the members of one prototype into another: a mixin without a deeper chain. */
export function include(cls, mixin) {
  const members = Object.getOwnPropertyDescriptors(mixin.prototype);
  delete members.constructor;
  Object.defineProperties(cls.prototype, members);
}

/** Throws the TypeError of a call with too few arguments. */
export function need(got, want, what) {
  if (got < want) {
    throw new TypeError(`${what}: ${want} argument${want === 1 ? "" : "s"} required, but only ${got} present`);
  }
}

/** Returns a value that Web IDL accepts as a dictionary, and throws for others. */
export function dictionary(value, what) {
  if (value === undefined || value === null || typeof value === "object" || typeof value === "function") return value;
  throw new TypeError(`${what} is not an object`);
}

/** The items of a value that Web IDL accepts as a sequence, each converted in turn. */
export function sequence(value, what, convert = (item) => item) {
  const iterate =
    typeof value === "function" || (typeof value === "object" && value !== null) ? value[Symbol.iterator] : undefined;
  if (typeof iterate !== "function") throw new TypeError(`${what} is not a sequence`);
  const list = [];
  for (const item of { [Symbol.iterator]: () => apply(iterate, value, []) }) list.push(convert(item));
  return list;
}

/** The error of a member used on an object of another class. */
export function illegal(name) {
  return new TypeError(`Illegal invocation: this is not a ${name}`);
}

/** read, a look at a private field, with the error of illegal for objects of other classes. */
export function guarded(name, read) {
  return (object) => {
    try {
      return read(object);
    } catch {
      throw illegal(name);
    }
  };
}

const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

/**
 * Gives cls entries, keys, values, forEach and iteration over the flat list
 * (name, value, name, value, …) that pairs(object) returns at each step.
 */
export function iterable(cls, name, pairs) {
  class Cursor {
    #of;
    #kind;
    #at = 0;
    constructor(of, kind) {
      pairs(of); // refuses a foreign this
      this.#of = of;
      this.#kind = kind;
    }
    next() {
      if (typeof this !== "object" || this === null || !(#at in this)) throw illegal(`${name} Iterator`);
      const list = pairs(this.#of),
        at = this.#at;
      if (at >= list.length) return { value: undefined, done: true };
      this.#at = at + 2;
      const key = list[at],
        value = list[at + 1];
      return { value: this.#kind === 0 ? key : this.#kind === 1 ? value : [key, value], done: false };
    }
  }
  delete Cursor.prototype.constructor;
  Object.setPrototypeOf(Cursor.prototype, IteratorPrototype);
  Object.defineProperty(Cursor.prototype, "next", { enumerable: true });
  Object.defineProperty(Cursor.prototype, Symbol.toStringTag, { value: `${name} Iterator`, configurable: true });
  const members = {
    entries() {
      return new Cursor(this, 2);
    },
    keys() {
      return new Cursor(this, 0);
    },
    values() {
      return new Cursor(this, 1);
    },
    forEach(callback, thisArg = undefined) {
      need(arguments.length, 1, `${name}.forEach`);
      if (typeof callback !== "function") throw new TypeError(`${name}.forEach: the callback is not a function`);
      for (let at = 0; at < pairs(this).length; at += 2) {
        const list = pairs(this);
        callback.call(thisArg, list[at + 1], list[at], this);
      }
    },
  };
  for (const key of Object.keys(members)) {
    Object.defineProperty(cls.prototype, key, {
      value: members[key],
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  Object.defineProperty(cls.prototype, Symbol.iterator, { value: members.entries, writable: true, configurable: true });
}
