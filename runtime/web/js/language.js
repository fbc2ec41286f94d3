// What the platform changes in the language itself: no code from strings, host
// entropy, stacks that begin with the error's own text as V8's do.
import { host } from "./host.js";
import { define, expose } from "./idl.js";

function refuseCode() {
  throw new EvalError("Code generation from strings disallowed for this context");
}

function refuseStrings() {
  expose("eval", function eval_() { refuseCode(); });
  Object.defineProperty(globalThis.eval, "name", { value: "eval" });
  const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const f of kinds) {
    const proto = Object.getPrototypeOf(f);
    const original = proto.constructor;
    const refusing = { [original.name]: function () { refuseCode(); } }[original.name];
    Object.defineProperty(refusing, "prototype", { value: proto });
    Object.defineProperty(proto, "constructor", { value: refusing, writable: true, configurable: true });
    if (original === globalThis.Function) expose("Function", refusing);
    else Object.setPrototypeOf(refusing, globalThis.Function);
  }
}

function headStacks() {
  Error.prepareStackTrace = function (error, frames) {
    let out = "";
    try {
      out = `${error}`;
    } catch {
      out = "Error";
    }
    for (const frame of frames) out += `\n    at ${position(frame)}`;
    return out;
  };
}

// V8 takes any value as an error's stack, and libraries take a stack away by
// setting it to undefined.
function freeStacks() {
  const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, "stack");
  const free = {
    set stack(value) {
      if (typeof value === "string" || this === null || typeof this !== "object") set.call(this, value);
      else Object.defineProperty(this, "stack", { value, writable: true, enumerable: false, configurable: true });
    },
  };
  Object.defineProperty(Error.prototype, "stack", { get, set: Object.getOwnPropertyDescriptor(free, "stack").set, enumerable: false, configurable: true });
}

function position(frame) {
  const name = frame.getFunctionName();
  const file = frame.getFileName();
  const at = frame.isNative() || !file ? "native" : `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
  return name && name !== "<anonymous>" && name !== "<null>" ? `${name} (${at})` : at;
}

export function install() {
  refuseStrings();
  headStacks();
  freeStacks();
  Math.random = { random() { return host.random_float(); } }.random;
  Object.defineProperty(Math, "random", { enumerable: false });
  expose("self", globalThis);
}
