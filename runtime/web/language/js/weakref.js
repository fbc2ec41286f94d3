// https://tc39.es/ecma262/#sec-addtokeptobjects What a WeakRef was made of, or
// gave out, stays alive until the job ends. The engine lets go at once, so it is
// held here; Go clears the list when the job has ended.
import { host } from "../../webidl/js/host.js";
import { expose } from "../../webidl/js/idl.js";

const Native = WeakRef,
  native = Native.prototype.deref;
const kept = new Set();

function keep(target) {
  if (kept.size === 0) host.keep_alive();
  kept.add(target);
}

/** Lets go of what the job kept alive. */
export function letGo() {
  kept.clear();
}

export function install() {
  const made = function WeakRef(target) {
    if (new.target === undefined) throw new TypeError("Constructor WeakRef requires 'new'");
    const ref = Reflect.construct(Native, [target], new.target);
    keep(target);
    return ref;
  };
  Object.defineProperty(made, "prototype", { value: Native.prototype, writable: false });
  Object.defineProperty(Native.prototype, "constructor", { value: made });
  const { deref } = {
    deref() {
      const target = native.call(this);
      if (target !== undefined) keep(target);
      return target;
    },
  };
  Object.defineProperty(Native.prototype, "deref", { value: deref });
  expose("WeakRef", made);
}
