// https://tc39.es/ecma262/#sec-addtokeptobjects A target that a WeakRef was made
// of, or gave out, stays alive until the job ends. Production's engine counts no
// references and collects much later, seldom within a request: here the target
// stays, too, until the heap has grown. Go clears the lists.
import { isServing } from "../../iocontext/js/owner.js";
import { host } from "../../webidl/js/host.js";
import { expose } from "../../webidl/js/idl.js";

const Native = WeakRef,
  native = Native.prototype.deref;
const ofJob = new Set(),
  lasting = new Set(),
  briefly = new Set(); // until the job ends, and no longer

function keep(target, list) {
  if (lasting.has(target)) return;
  if (ofJob.size + briefly.size === 0) host.keep_alive();
  list.add(target);
}

/** A WeakRef whose target lives no longer than the job that asks for it. */
export class BriefRef {
  #ref;
  constructor(target) {
    this.#ref = new Native(target);
    keep(target, briefly);
  }
  deref() {
    const target = native.call(this.#ref);
    if (target !== undefined) keep(target, briefly);
    return target;
  }
}

/** Called at the end of a job that kept something alive. Reports whether something stays. */
export function letGo() {
  if (isServing()) for (const target of ofJob) lasting.add(target);
  ofJob.clear();
  briefly.clear();
  return lasting.size > 0;
}

/** Releases the targets that were kept for longer. */
export function letGoAll() {
  lasting.clear();
}

export function install() {
  const made = function WeakRef(target) {
    if (new.target === undefined) throw new TypeError("Constructor WeakRef requires 'new'");
    const ref = Reflect.construct(Native, [target], new.target);
    keep(target, ofJob);
    return ref;
  };
  Object.defineProperty(made, "prototype", { value: Native.prototype, writable: false });
  Object.defineProperty(Native.prototype, "constructor", { value: made });
  const { deref } = {
    deref() {
      const target = native.call(this);
      if (target !== undefined) keep(target, ofJob);
      return target;
    },
  };
  Object.defineProperty(Native.prototype, "deref", { value: deref });
  expose("WeakRef", made);
}
