// Memory, Table and Global. Those that an instance exports, and those that
// JavaScript makes, are things in an instance all the same.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import { isArrayBuffer, isSharedArrayBuffer } from "../../web/webidl/js/kinds.js";
import { pin } from "../../web/webidl/js/pinned.js";
import { Anchor, anchorOf, firstOf, mark, ownerOf } from "./anchor.js";
import { initial, inward, outward, settle } from "./value.js";

const EXISTING = Symbol("existing");
const U32 = 2 ** 32 - 1,
  PAGES = 65536, // and the bytes of a page
  ELEMENTS = 10_000_000;

// https://webidl.spec.whatwg.org/#EnforceRange for an unsigned long.
function enforce(value, what) {
  const n = Math.trunc(+value);
  const side = n < 0 ? "below the lower bound" : n > U32 ? "above the upper bound" : "not within the bounds";
  if (!(n >= 0 && n <= U32)) throw new TypeError(`${what}: value ${String(value)} is ${side}`);
  return n + 0;
}

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

// The limits of a descriptor: [initial, maximum or null].
function limits(descriptor, what, most) {
  const least = descriptor.initial;
  if (least === undefined) throw new TypeError(`${what}: Property 'initial' is required`);
  const low = enforce(least, `${what}: Property 'initial'`);
  const top = descriptor.maximum;
  const high = top === undefined ? null : enforce(top, `${what}: Property 'maximum'`);
  if (low > most) throw new RangeError(`${what}: Property 'initial': value ${low} is above the upper bound ${most}`);
  if (high !== null && high < low)
    throw new RangeError(`${what}: Property 'maximum': value ${high} is below the lower bound ${low}`);
  return [low, high];
}

// Refuses addresses of 64 bits, which production takes.
function checkAddress(descriptor, what) {
  const { address } = descriptor;
  if (address === undefined) return;
  const type = `${address}`;
  if (type === "i64")
    throw new TypeError(`${what}: addresses of 64 bits (memory64) are not supported here; production has them`);
  if (type !== "i32") throw new TypeError(`${what}: Unknown address type '${type}'; pass 'i32' or 'i64'`);
}

const { apply } = Reflect,
  { defineProperty, freeze } = Object,
  { resize } = ArrayBuffer.prototype,
  { grow: growShared } = SharedArrayBuffer.prototype,
  lengthOf = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get,
  sharedLengthOf = Object.getOwnPropertyDescriptor(SharedArrayBuffer.prototype, "byteLength").get;

// Points a buffer at the current place of the memory: with its old length, or all bytes up to its greatest size.
function follow(anchor, buffer, shared, most) {
  const size = host.wasm_point(anchor.id, buffer);
  apply(shared ? growShared : resize, buffer, [most === null ? apply(sharedLengthOf, buffer, []) : size]);
  host.wasm_settle(anchor.id, buffer, most);
}

const memories = new WeakMap(); // the Memory of each buffer that can be resized

let resizing = false; // whether the methods of buffers look

// The methods that resize a buffer grow the Memory that it is of. Most Workers have none, and the engine's own methods.
function resizeMemories() {
  if (resizing) return;
  resizing = true;
  for (const [proto, name, original, isOne] of /** @type {any[][]} */ ([
    [ArrayBuffer.prototype, "resize", resize, isArrayBuffer],
    [SharedArrayBuffer.prototype, "grow", growShared, isSharedArrayBuffer],
  ])) {
    const { [name]: method } = {
      [name](length) {
        const memory = isOne(this) ? memories.get(this) : undefined;
        if (memory === undefined || (name === "resize" && /** @type {any} */ (this).detached))
          return apply(original, this, [length]);
        const bytes = Math.trunc(+length) || 0,
          more = bytes - apply(name === "grow" ? sharedLengthOf : lengthOf, this, []);
        if (more < 0 || more % PAGES !== 0 || host.wasm_grow(anchorOfMemory(memory).id, more / PAGES) === null)
          throw new RangeError(
            `${name}: Invalid length parameter: the buffer of a WebAssembly.Memory grows by whole pages`,
          );
      },
    };
    defineProperty(proto, name, { value: method });
  }
}

/** Detaches the buffer of a Memory whose bytes are elsewhere now, or more; one that can be resized gets them. */
export let refresh;

let anchorOfMemory, bufferOfMemory, remake, fieldsOfTable, fieldsOfGlobal;

export class Memory {
  #anchor;
  #buffer = null;
  #most = null; // bytes that the buffer can be resized to
  #isShared = false; // once there is a buffer
  #shared = []; // the buffers that were, of a shared memory: they stay as long as they were
  #at = 0; // the last known place of the memory
  static {
    anchorOfMemory = guarded("WebAssembly.Memory", (memory) => memory.#anchor);
    refresh = (memory) => {
      const buffer = memory.#buffer;
      if (buffer === null) return;
      if (memory.#most !== null) follow(memory.#anchor, buffer, memory.#isShared, memory.#most);
      else if (!memory.#isShared) {
        host.wasm_detach(buffer);
        memory.#buffer = null;
      } else {
        if (memory.#shared.at(-1) !== buffer) memory.#shared.push(buffer);
        memory.#buffer = null;
      }
      const at = memory.#shared.length === 0 ? memory.#at : host.wasm_address(memory.#anchor.id);
      if (at === memory.#at) return;
      memory.#at = at;
      for (const before of memory.#shared) follow(memory.#anchor, before, true, null);
    };
    bufferOfMemory = (memory) => {
      const anchor = anchorOfMemory(memory);
      let buffer = memory.#buffer;
      if (buffer !== null && (memory.#isShared || !buffer.detached)) return buffer;
      memory.#buffer = buffer = host.wasm_buffer(anchor.id);
      memory.#isShared = isSharedArrayBuffer(buffer);
      mark(buffer, anchor);
      if (memory.#most !== null) {
        follow(anchor, buffer, memory.#isShared, memory.#most);
        memories.set(buffer, memory);
      }
      if (memory.#isShared) {
        memory.#at = host.wasm_address(anchor.id);
        if (memory.#most === null) freeze(buffer);
      } else pin(buffer);
      return buffer;
    };
    // Gives a Memory a new buffer, which can be resized to so many bytes, or with null cannot.
    remake = (memory, most) => {
      if (memory.#most !== most) {
        const buffer = memory.#buffer;
        if (memory.#isShared) {
          if (memory.#most === null) memory.#shared.push(buffer);
        } else if (buffer !== null) host.wasm_detach(buffer);
        memory.#buffer = null;
        memory.#most = most;
      }
      return bufferOfMemory(memory);
    };
  }
  /** @overload @param {...any} given */
  constructor(descriptor) {
    if (descriptor === EXISTING) {
      this.#anchor = arguments[1];
    } else {
      if (!isObject(descriptor)) throw new TypeError("WebAssembly.Memory(): Argument 0 must be a memory descriptor");
      checkAddress(descriptor, "WebAssembly.Memory()");
      const [low, high] = limits(descriptor, "WebAssembly.Memory()", PAGES);
      if (high !== null && high > PAGES)
        throw new RangeError(
          `WebAssembly.Memory(): Property 'maximum': value ${high} is above the upper bound ${PAGES}`,
        );
      const shared = Boolean(descriptor.shared);
      if (shared && high === null)
        throw new TypeError("WebAssembly.Memory(): If shared is true, maximum property should be defined.");
      this.#anchor = new Anchor(host.wasm_memory(low, high, shared));
    }
    this.#anchor.memory = this;
  }
  grow(delta) {
    const { id } = anchorOfMemory(this);
    const had = host.wasm_grow(id, enforce(delta, "WebAssembly.Memory.grow(): Argument 0"));
    if (had === null) throw new RangeError("WebAssembly.Memory.grow(): Maximum memory size exceeded");
    refresh(this);
    return had;
  }
  toFixedLengthBuffer() {
    anchorOfMemory(this);
    return remake(this, null);
  }
  toResizableBuffer() {
    const most = host.wasm_maximum(anchorOfMemory(this).id);
    if (most === null) throw new TypeError("WebAssembly.Memory.toResizableBuffer(): Memory must have a maximum");
    resizeMemories();
    return remake(this, most);
  }
  get buffer() {
    return bufferOfMemory(this);
  }
}

/** The number of the instance whose memory value is; null for other values. */
export function memoryId(value) {
  return attempt(() => anchorOfMemory(value).id);
}

/** The Memory of an instance: always the same object. */
export function memoryOf(id) {
  const anchor = anchorOf(id);
  return anchor.memory ?? new Memory(EXISTING, anchor);
}

export class Table {
  #anchor;
  #code;
  #type;
  static {
    fieldsOfTable = guarded("WebAssembly.Table", (table) => ({
      anchor: table.#anchor,
      code: table.#code,
      type: table.#type,
    }));
  }
  /** @overload @param {...any} given */
  constructor(descriptor) {
    if (descriptor === EXISTING) {
      [, this.#anchor, this.#code, this.#type] = arguments;
      return;
    }
    if (!isObject(descriptor)) throw new TypeError("WebAssembly.Table(): Argument 0 must be a table descriptor");
    const element = `${descriptor.element}`;
    if (element !== "anyfunc" && element !== "externref")
      throw new TypeError("WebAssembly.Table(): Descriptor property 'element' must be a WebAssembly reference type");
    checkAddress(descriptor, "WebAssembly.Table()");
    const [low, high] = limits(descriptor, "WebAssembly.Table()", ELEMENTS);
    this.#type = element === "anyfunc" ? "F" : "x";
    const value = arguments[1];
    this.#anchor = new Anchor(host.wasm_table(this.#type, high));
    this.#code = firstOf(this.#anchor);
    this.#anchor.tables.set(this.#code, this);
    if (low > 0) grow(this, low, value, value !== undefined, "WebAssembly.Table(): Argument 1");
  }
  get length() {
    return host.wasm_table_size(fieldsOfTable(this).code);
  }
  grow(delta, value) {
    fieldsOfTable(this);
    return grow(
      this,
      enforce(delta, "WebAssembly.Table.grow(): Argument 0"),
      value,
      arguments.length > 1,
      "WebAssembly.Table.grow(): Argument 1",
    );
  }
  set(index, value) {
    const { anchor, code, type } = fieldsOfTable(this);
    const at = place(code, index, "WebAssembly.Table.set()", type);
    host.wasm_table_set(
      code,
      at,
      reference(anchor, type, value, arguments.length > 1, "WebAssembly.Table.set(): Argument 1"),
    );
  }
  get(index) {
    const { code, type } = fieldsOfTable(this);
    return inward(type, host.wasm_table_get(code, place(code, index, "WebAssembly.Table.get()", type)));
  }
}

for (const name of ["grow", "set"]) Object.defineProperty(Table.prototype[name], "length", { value: 1 });

function place(code, index, what, type) {
  const at = enforce(index, `${what}: Argument 0`),
    size = host.wasm_table_size(code);
  if (at >= size)
    throw new RangeError(
      `${what}: invalid address ${at} in ${type === "F" ? "funcref" : "externref"} table of size ${size}`,
    );
  return at;
}

function reference(anchor, type, value, given, what) {
  settle();
  if (!given) value = initial(type);
  try {
    return outward(anchor, type, value);
  } catch {
    throw new TypeError(`${what} is invalid: function-typed object expected`);
  }
}

function grow(table, delta, value, given, what) {
  const { anchor, code, type } = fieldsOfTable(table);
  const had = host.wasm_table_grow(code, delta, reference(anchor, type, value, given, what));
  if (had < 0) throw new RangeError(`${what.slice(0, what.indexOf(":"))}: failed to grow table by ${delta}`);
  return had;
}

/** The code of a Table; null for any other value. */
export function tableCode(value) {
  return attempt(() => fieldsOfTable(value).code);
}

/** The Table of a code: always the same object. */
export function tableOf(code, type) {
  return thing("tables", code, (anchor) => new Table(EXISTING, anchor, code, type));
}

const TYPES = { __proto__: null, i32: "i", i64: "I", f32: "f", f64: "d", v128: "v", anyfunc: "F", externref: "x" };

export class Global {
  #anchor;
  #code;
  #type;
  #mutable;
  static {
    fieldsOfGlobal = guarded("WebAssembly.Global", (global) => ({
      anchor: global.#anchor,
      code: global.#code,
      type: global.#type,
      mutable: global.#mutable,
    }));
  }
  /** @overload @param {...any} given */
  constructor(descriptor, value) {
    if (descriptor === EXISTING) {
      [, this.#anchor, this.#code, this.#type, this.#mutable] = arguments;
      return;
    }
    if (!isObject(descriptor)) throw new TypeError("WebAssembly.Global(): Argument 0 must be a global descriptor");
    this.#mutable = Boolean(descriptor.mutable);
    this.#type = TYPES[`${descriptor.value}`];
    if (this.#type === undefined)
      throw new TypeError("WebAssembly.Global(): Descriptor property 'value' must be a WebAssembly type");
    if (this.#type === "v") throw new TypeError("WebAssembly.Global(): a v128 has no value in JavaScript");
    this.#anchor = newGlobal(this.#type, this.#mutable, value);
    this.#code = firstOf(this.#anchor);
    this.#anchor.globals.set(this.#code, this);
    if (this.#type === "F" || this.#type === "x") {
      host.wasm_global_set(
        this.#code,
        reference(this.#anchor, this.#type, value, arguments.length > 1, "WebAssembly.Global(): Argument 1"),
      );
    }
  }
  valueOf() {
    return valueOf(this);
  }
  get value() {
    return valueOf(this);
  }
  set value(value) {
    const { anchor, code, type, mutable } = fieldsOfGlobal(this);
    if (!mutable) throw new TypeError("set WebAssembly.Global.value: Can't set the value of an immutable global.");
    settle();
    host.wasm_global_set(
      code,
      type === "F" || type === "x"
        ? reference(anchor, type, value, true, "set WebAssembly.Global.value: Argument 0")
        : value,
    );
  }
}

Object.defineProperty(Global, "length", { value: 1 });

function valueOf(global) {
  const { code, type } = fieldsOfGlobal(global);
  return inward(type, host.wasm_global_get(code));
}

/** The anchor of a new global. One of references is null, and mutable for a first value. */
export function newGlobal(type, mutable, value) {
  if (value === undefined) value = type === "I" ? 0n : 0;
  const isReference = type === "F" || type === "x";
  return new Anchor(host.wasm_global(type, mutable || isReference, isReference ? null : value));
}

/** The code of a Global; null for any other value. */
export function globalCode(value) {
  return attempt(() => fieldsOfGlobal(value).code);
}

/** The Global of a code: always the same object. */
export function globalOf(code, type, mutable) {
  return thing("globals", code, (anchor) => new Global(EXISTING, anchor, code, type, mutable));
}

function thing(kind, code, make) {
  const anchor = ownerOf(code);
  let known = anchor[kind].get(code);
  if (known === undefined) {
    known = make(anchor);
    anchor[kind].set(code, known);
  }
  return known;
}

function attempt(read) {
  try {
    return read();
  } catch {
    return null;
  }
}
