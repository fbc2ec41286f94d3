// The stacks of errors, as the errors keep them and as they are read.
import { host } from "../../webidl/js/host.js";

export function nameOf({ name }) {
  return name === undefined ? "Error" : `${name}`;
}

// The stack that is to be kept, and the name at its head.
let making, heading;

/** Whether an error keeps a stack. */
export let hasStack;

/** Has an error keep a stack. The name at the head of one that was made here says that it is not done: see told. */
export let keepStack;

/** Puts the accessor of its stack in the place of what an error has there. */
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

// A stack as it is read for the first time: V8 heads it then, with the name that
// most constructors give once the stack is made, and the message it was made with.
function named(error, stack, before) {
  try {
    const name = nameOf(error);
    if (name !== before && stack.startsWith(before))
      return name + stack.slice(before.length + (name === "" && stack.startsWith(": ", before.length) ? 2 : 0));
  } catch {} // the author's getter, or a stack that is no text
  return stack;
}

// The same with positions in the author's files, where the host is to give them. It is asked when
// the stack is read: most never are, and making one is to cost no more.
function told(stack) {
  return host.authored_stack(stack) ?? stack;
}
