// The platform's changes of the language itself: no code from strings, host entropy, stacks that begin with the error's own text as V8's
// do.
import { host } from "../../webidl/js/host.js";
import { attribute, expose } from "../../webidl/js/idl.js";
import { isServing } from "../../iocontext/js/owner.js";
import { withdrawProposals } from "./proposals.js";
import { splitByMatches } from "./split.js";
import { hasStack, keepStack, nameOf, showStack } from "./stack.js";
import { preparing } from "./trace.js";
import { reword } from "./wording.js";

const { getOwnPropertyDescriptor: descriptorOf, getPrototypeOf: prototypeOf } = Reflect;

// Code in strings runs while the module is evaluated and not later, as on the
// platform: compilers of templates and schemas do their work there.
function refuseCode() {
  if (isServing()) throw new EvalError("Code generation from strings disallowed for this context");
}

function refuseStrings() {
  // biome-ignore lint/security/noGlobalEval: guarded here
  const evaluate = globalThis.eval;
  expose(
    "eval",
    {
      eval(code) {
        refuseCode(); // other values too, as the platform does
        if (typeof code !== "string") return code;
        return evaluate(code);
      },
    }.eval,
  );
  const { Function: plain } = globalThis;
  // biome-ignore lint/complexity/useArrowFunction: the kinds of functions that have a constructor
  const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const f of kinds) {
    const proto = Object.getPrototypeOf(f);
    const original = proto.constructor;
    const guarding = {
      [original.name]: function (...args) {
        if (args.length > 0 || original !== plain) refuseCode(); // an empty function is not code from a string
        return Reflect.construct(original, args, new.target ?? guarding);
      },
    }[original.name];
    Object.defineProperty(guarding, "length", { value: 1, configurable: true });
    Object.defineProperty(guarding, "prototype", { value: proto, writable: false });
    Object.defineProperty(proto, "constructor", { value: guarding }); // keeps its writability: only Function's is writable
    if (original === plain) expose("Function", guarding);
    else Object.setPrototypeOf(guarding, globalThis.Function);
  }
}

// The file that this is in, in stacks.
let file;

// The methods of V8's call sites that the engine's lack, which libraries call in
// their prepareStackTrace, as V8 answers of a function in strict mode. The receiver of a call is not kept: each function counts as called
// by itself.
function completeFrames() {
  Error.prepareStackTrace = (error, frames) => frames[0];
  const { stack: here } = /** @type {any} */ (new Error()),
    proto = Object.getPrototypeOf(here);
  file = here.getFileName();
  const methods = {
    getEvalOrigin() {},
    getFunction() {},
    getMethodName() {
      return null;
    },
    getPromiseIndex() {
      return null;
    },
    getScriptNameOrSourceURL() {
      return this.getFileName();
    },
    getThis() {},
    getTypeName() {
      return null;
    },
    isAsync() {
      return false;
    },
    isEval() {
      return false;
    },
    isPromiseAll() {
      return false;
    },
    isToplevel() {
      return !this.isConstructor();
    },
    toString() {
      return `${this.isConstructor() ? "new " : ""}${position(this)}`;
    },
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(proto, name, { value, writable: true, enumerable: false, configurable: true });
}

// The object that a stack is captured for, and whether a frame is the capturing function's.
let capturing, isCapture;

// The name at the head of the stack that was made last; undefined for one of the author's making.
let heading;

function headStacks() {
  const { apply } = Reflect,
    { toString } = Error.prototype;
  prepareBy((error, frames) => {
    let out = "";
    if (error !== capturing) {
      try {
        reword(error, frames);
      } catch {} // the stack or the budget ends, or the author changed the language
    }
    try {
      out = apply(toString, error, []);
      heading = nameOf(error);
    } catch {
      out = "Error";
    }
    for (const frame of frames) out += `\n    at ${position(frame)}`;
    return out;
  });
}

// The engine asks for the stack of every thrown value; a value that is not an Error has none and is
// left alone. As in V8, each call looks for the author's function, which does not exist at first:
// libraries set one for a single stack, and then restore undefined or delete it.
function prepareBy(head) {
  const { apply } = Reflect,
    Own = Error,
    { isError } = Own;
  delete Own.prepareStackTrace;
  apply(preparing.set, Own, [
    (error, frames) => {
      if (error !== capturing && (!isError(error) || hasStack(error))) return undefined; // the author took it away
      const { prepareStackTrace: prepare } = Own;
      if (error === capturing && isCapture(frames[0])) frames = []; // the function to begin above did not call
      if (error !== capturing) frames = withoutMakers(error, frames);
      let stack = null;
      heading = undefined;
      try {
        stack = typeof prepare === "function" ? apply(prepare, Own, [error, frames]) : head(error, frames);
      } catch {}
      keepStack(error, stack, heading);
      return stack;
    },
  ]);
}

// Whether a frame is of the constructor of exceptions, which calls the engine's by Reflect.construct.
function isMaker(frame) {
  return frame.isConstructor() && frame.getFunctionName() === "DOMException" && frame.getFileName() === file;
}

// The frames without those of the error's own constructors, if its class is the author's: as in V8, the innermost frame is the place of the
// new expression.
function withoutMakers(error, frames) {
  if (frames.length > 1 && frames[0].isNative() && isMaker(frames[1])) frames = frames.slice(2);
  try {
    const { value: type } = descriptorOf(prototypeOf(error), "constructor");
    const { value: name } = descriptorOf(type, "name");
    for (let i = 0; i < frames.length && frames[i].isConstructor(); i++) {
      if (frames[i].getFunctionName() === name) return frames.slice(i + 1);
    }
  } catch {} // the class must not see it
  return frames;
}

// If calls are too deep for prepareStackTrace, the engine leaves no stack at all; V8's is null only
// if the author sets it.
function isOverflow(error) {
  return error instanceof RangeError && error.message === "Maximum call stack size exceeded";
}

// V8 has no stack on Error.prototype: libraries that compare errors by all their properties would
// find it. The engine's accessor stays for the errors of such deep calls and of a budget that ends,
// which have no stack of their own.
function freeStacks() {
  const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, "stack"),
    { apply } = Reflect,
    { toString } = Error.prototype;
  const free = {
    get stack() {
      const stack = apply(get, this, []);
      if (stack !== null || !isOverflow(this)) return stack;
      keepStack(this, apply(toString, this, []));
      return this.stack;
    },
    set stack(value) {
      if (Object(this) !== this) apply(set, this, [value]);
      else
        Reflect.defineProperty(this, "stack", {
          value,
          writable: true,
          enumerable: apply(get, this, []) !== null,
          configurable: true,
        });
    },
  };
  delete Error.prototype.stack;
  for (const { prototype } of [RangeError, InternalError]) {
    Object.defineProperty(prototype, "stack", { ...Object.getOwnPropertyDescriptor(free, "stack"), enumerable: false });
  }
}

// A captured stack is the object's own property, and gets its header as late as an error's.
function nameCaptures() {
  const { captureStackTrace: capture } = Error;
  const { value } = Object.getOwnPropertyDescriptor(
    {
      captureStackTrace(object, above) {
        const outer = capturing;
        capturing = object;
        try {
          capture(object, typeof above === "function" ? above : value);
        } finally {
          capturing = outer;
        }
        if (hasStack(object)) showStack(object); // the engine put the text in its place
      },
    },
    "captureStackTrace",
  );
  isCapture = (frame) => frame !== undefined && frame.getFunctionName() === value.name && frame.getFileName() === file;
  Object.defineProperty(Error, "captureStackTrace", { value, writable: true, enumerable: false, configurable: true });
}

// The engine's setters return NaN for an invalid result and leave the date unchanged. Here it becomes invalid (ECMA-262, 21.4.4.20 and
// on), unless it already was: then a value that the conversion of a field sets stays.
function invalidateDates() {
  const { apply } = Reflect,
    { getTime, setTime } = Date.prototype;
  for (const name of Object.getOwnPropertyNames(Date.prototype)) {
    const original = Date.prototype[name];
    if (!name.startsWith("set") || name === "setTime") continue;
    const ofNone = name.endsWith("Year"); // makes an invalid date valid again
    const { [name]: value } = {
      [name](...fields) {
        const before = apply(getTime, this, []),
          time = apply(original, this, fields);
        // biome-ignore lint/suspicious/noSelfCompare: NaN, even if the Worker replaced Number.isNaN
        return time === time || (before !== before && !ofNone) ? time : apply(setTime, this, [NaN]);
      },
    };
    Object.defineProperty(value, "length", { value: original.length, configurable: true });
    Object.defineProperty(Date.prototype, name, { value, writable: true, enumerable: false, configurable: true });
  }
}

// The name of the zone, which ECMA-262 (21.4.4.41.3) leaves open and V8 writes.
function nameZone() {
  const { apply } = Reflect;
  for (const name of ["toString", "toTimeString"]) {
    const original = Date.prototype[name];
    const { [name]: value } = {
      [name]() {
        const text = apply(original, this, []);
        return text === "Invalid Date" ? text : `${text} (Coordinated Universal Time)`;
      },
    };
    Object.defineProperty(Date.prototype, name, { value, writable: true, enumerable: false, configurable: true });
  }
}

function position(frame) {
  const name = frame.getFunctionName();
  const file = frame.getFileName();
  const at = file ? `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}` : "native";
  return name && name !== "<anonymous>" && name !== "<null>" ? `${name} (${at})` : at;
}

// https://webidl.spec.whatwg.org/#js-DOMException-specialness
function countExceptions() {
  const { isError } = Error,
    { get: code } = Object.getOwnPropertyDescriptor(DOMException.prototype, "code");
  const { isError: either } = {
    isError(value) {
      if (isError(value) || value === null || typeof value !== "object" || !(value instanceof DOMException))
        return isError(value);
      try {
        code.call(value);
        return true;
      } catch {
        return false;
      }
    },
  };
  Object.defineProperty(Error, "isError", { value: either });
}

// Features of the engine from drafts of ECMA-262: RegExp.escape (22.2.5.1) leaves pairs of
// surrogates as they are, and Promise.try (27.2.4.8) gives back a promise of its kind. The error
// of Promise.any has the message and the properties of V8's.
function amend() {
  const { escape } = RegExp,
    { resolve, withResolvers } = Promise,
    { apply } = Reflect;
  const pair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g,
    probe = escape("-").length;
  const { any } = Promise,
    { prototype: aggregate } = AggregateError;
  const described = (error) => {
    if (Object(error) !== error || prototypeOf(error) !== aggregate || hasStack(error)) return error; // of the author's
    const { errors } = error,
      message = "All promises were rejected";
    delete error.errors; // comes last
    keepStack(error, `AggregateError: ${message}`);
    for (const [name, value] of [
      ["message", message],
      ["errors", errors],
    ])
      Object.defineProperty(error, name, { value, writable: true, enumerable: false, configurable: true });
    return error;
  };
  const methods = {
    any(values) {
      const Type = this;
      if (typeof Type !== "function") return apply(any, Type, [values]);
      // biome-ignore lint/complexity/useArrowFunction: a constructor
      const Described = function (executor) {
        return new /** @type {any} */ (Type)((resolve, reject) =>
          executor(resolve, (error) => reject(described(error))),
        );
      };
      Object.defineProperty(Described, "resolve", {
        get() {
          const { resolve: made } = Type;
          return typeof made === "function" ? (value) => apply(made, Type, [value]) : made;
        },
      });
      return apply(any, Described, [values]);
    },
    escape(text) {
      if (typeof text !== "string" || text.search(pair) < 0) return escape(text);
      let out = "",
        from = 0;
      // Only the first letter is special.
      const rest = (to) => (from === 0 ? escape(text.slice(0, to)) : escape(`-${text.slice(from, to)}`).slice(probe));
      for (const { 0: found, index } of text.matchAll(pair)) {
        if (index > from || from === 0) out += rest(index);
        out += found;
        from = index + found.length;
      }
      return out + rest(text.length);
    },
    try(callback, ...args) {
      if (Object(this) !== this) throw new TypeError("Promise.try called on non-object");
      let value;
      try {
        value = callback(...args);
      } catch (error) {
        const { promise, reject } = apply(withResolvers, this, []);
        reject(error);
        return promise;
      }
      return apply(resolve, this, [value]);
    },
  };
  Object.defineProperty(RegExp, "escape", {
    value: methods.escape,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  for (const name of ["any", "try"])
    Object.defineProperty(Promise, name, {
      value: methods[name],
      writable: true,
      enumerable: false,
      configurable: true,
    });
}

export function install() {
  refuseStrings();
  countExceptions();
  completeFrames();
  headStacks();
  freeStacks();
  nameCaptures();
  invalidateDates();
  nameZone();
  splitByMatches();
  amend();
  withdrawProposals();
  Math.random = {
    random() {
      return host.random_float();
    },
  }.random;
  Object.defineProperty(Math, "random", { enumerable: false });
  attribute("self", globalThis);
}
