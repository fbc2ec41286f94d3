// The three error classes of WebAssembly: as the language's own are, callable and
// not only constructible.

function errorClass(name) {
  const cls = {
    /** @returns {void} */
    [name]: function (message) {
      return Reflect.construct(Error, arguments, new.target ?? cls);
    },
  }[name];
  Object.setPrototypeOf(cls, Error);
  cls.prototype = Object.create(Error.prototype);
  Object.defineProperty(cls, "prototype", { writable: false, enumerable: false });
  for (const [key, value] of [
    ["constructor", cls],
    ["name", name],
    ["message", ""],
  ]) {
    Object.defineProperty(cls.prototype, key, { value, writable: true, configurable: true });
  }
  return cls;
}

export const CompileError = errorClass("CompileError");
export const LinkError = errorClass("LinkError");
export const RuntimeError = errorClass("RuntimeError");

const traps = new WeakSet();

/** Reports whether value is a trap, or an exhausted stack: no instance catches those. */
export function isTrap(value) {
  return traps.has(value) || (value instanceof RangeError && value.message === "Maximum call stack size exceeded");
}

/** Called by Go: its error, of the class that it names. */
export function error(name, message) {
  const cls = name === "CompileError" ? CompileError : name === "LinkError" ? LinkError : RuntimeError;
  const made = new cls(message);
  if (cls === RuntimeError) traps.add(made);
  return made;
}
