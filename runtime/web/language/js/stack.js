// The stacks of errors, as the errors keep them and as they are read.
import { host } from "../../webidl/js/host.js";

export function nameOf({ name }) {
  return name === undefined ? "Error" : `${name}`;
}

// The stack to keep, and the name at its head.
let making, heading;

/** Whether an error keeps a stack. */
export let hasStack;

/** Stores a stack in an error. A stack made here begins with a name until told completes it. */
export let keepStack;

/** Replaces an error's property stack by the accessor. */
export let showStack;

let readStack, writeStack;

// An error's stack in the error itself, and the name at its head until somebody reads it.
class Stack extends /** @type {any} */ (
  function (error) {
    return error;
  }
) {
  #stack = making;
  #name = heading;
  static {
    const { defineProperty, getPrototypeOf } = Reflect;
    const holder = (of) => {
      while (of !== null && !(#stack in of)) of = getPrototypeOf(of);
      return of;
    };
    const { get, set } = Object.getOwnPropertyDescriptor(
      {
        get stack() {
          return Object(this) === this ? readStack(this) : undefined;
        },
        set stack(value) {
          if (Object(this) === this) writeStack(this, value);
        },
      },
      "stack",
    );
    // Shared by all of them as in V8, which has no such property on the prototype.
    const own = { __proto__: null, get, set, enumerable: false, configurable: true };
    hasStack = (error) => #stack in error;
    showStack = (error) => {
      defineProperty(error, "stack", own);
    };
    keepStack = (error, stack, name) => {
      if (#stack in error) {
        error.#stack = stack;
        error.#name = name;
      } else {
        making = stack;
        heading = name;
        new /** @type {any} */ (Stack)(error);
        making = heading = undefined;
      }
      showStack(error);
    };
    readStack = (object) => {
      const held = holder(object);
      if (held === null) return undefined;
      const name = held.#name;
      if (name !== undefined) {
        held.#name = undefined;
        held.#stack = told(named(held, held.#stack, name));
      }
      return held.#stack;
    };
    writeStack = (object, stack) => {
      const held = holder(object);
      if (held === null) return;
      held.#stack = stack;
      held.#name = undefined;
    };
  }
}

// A stack at its first read: like V8, this adds the header only now, since most constructors set
// the name after the stack was made; the message is that of the constructor's call.
function named(error, stack, before) {
  try {
    const name = nameOf(error);
    if (name !== before && stack.startsWith(before))
      return name + stack.slice(before.length + (name === "" && stack.startsWith(": ", before.length) ? 2 : 0));
  } catch {} // the author's getter threw, or the stack is not a string
  return stack;
}

// The same with positions in the author's files, if the host provides them. It does so when the
// stack is read: most never are, and creating an error should stay cheap.
function told(stack) {
  return host.authored_stack(stack) ?? stack;
}
