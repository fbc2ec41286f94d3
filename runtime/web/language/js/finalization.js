// https://tc39.es/ecma262/#sec-finalization-registry-objects The engine counts references, so that a target goes as soon as its last user
// returns, while the resource that it guards may still be in use, such as a Response's body. In production a much later collection removes
// it. Here a callback runs in a turn of its own, when the request in which the target was registered is over.
import { isServing } from "../../iocontext/js/owner.js";
import { report } from "../../console/js/report.js";
import { host } from "../../webidl/js/host.js";
import { expose } from "../../webidl/js/idl.js";

const Native = FinalizationRegistry,
  { register: nativeRegister, unregister: nativeUnregister } = Native.prototype;

const states = new WeakMap(); // callback and cells by token, of each registry
const open = new Set(); // the current requests without WebSockets, whose events count as separate requests
const waiting = new Map(); // cells whose targets have gone, by request
let asked = false;

/** Called when a request begins. */
export function guard(id) {
  open.add(id);
}

/** Called when a request is over, or has become a WebSocket. */
export function unguard(id) {
  if (open.delete(id) && waiting.has(id)) ask();
}

function ask() {
  if (asked || !isServing()) return; // objects of the module come later
  asked = true;
  host.finalize();
}

function gone(cell) {
  const cells = waiting.get(cell.request);
  if (cells === undefined) waiting.set(cell.request, [cell]);
  else cells.push(cell);
  if (!open.has(cell.request)) ask();
}

/** Runs the callbacks for requests that are over. */
export function finalize() {
  asked = false;
  for (const [request, cells] of [...waiting]) {
    if (open.has(request)) continue;
    waiting.delete(request);
    for (const cell of cells) {
      const { callback, held } = cell;
      cell.callback = null;
      if (callback === null) continue; // it was unregistered meanwhile
      try {
        callback(held);
      } catch (error) {
        report(error, "in a callback of a FinalizationRegistry:");
      }
    }
  }
}

const methods = {
  register(target, held, token = undefined) {
    const state = states.get(this);
    if (state === undefined) return nativeRegister.call(this, target, held, token); // throws
    if (target === held && ["object", "function", "symbol"].includes(typeof target) && target !== null)
      throw new TypeError("FinalizationRegistry.prototype.register: target and holdings must not be same");
    const cell = { callback: state.callback, held, request: host.current_request() };
    nativeRegister.call(this, target, cell, token);
    if (token === undefined) return;
    const cells = state.cells.get(token);
    if (cells === undefined) state.cells.set(token, [cell]);
    else cells.push(cell);
  },
  unregister(token) {
    const removed = nativeUnregister.call(this, token);
    const { cells } = states.get(this),
      of = cells.get(token);
    if (of === undefined) return removed;
    cells.delete(token);
    let found = removed;
    for (const cell of of) {
      found ||= cell.callback !== null;
      cell.callback = null;
    }
    return found;
  },
};

export function install() {
  const made = function FinalizationRegistry(cleanupCallback) {
    if (new.target === undefined) throw new TypeError("Constructor FinalizationRegistry requires 'new'");
    if (typeof cleanupCallback !== "function") throw new TypeError("FinalizationRegistry: cleanup must be callable");
    const registry = Reflect.construct(Native, [gone], new.target);
    states.set(registry, { callback: cleanupCallback, cells: new WeakMap() });
    return registry;
  };
  Object.defineProperty(made, "prototype", { value: Native.prototype, writable: false });
  Object.defineProperty(Native.prototype, "constructor", { value: made });
  for (const name of ["register", "unregister"])
    Object.defineProperty(Native.prototype, name, { value: methods[name] });
  Object.defineProperty(methods.register, "length", { value: 2 });
  expose("FinalizationRegistry", made);
}
