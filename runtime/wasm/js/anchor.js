// Instances by their numbers. Everything that JavaScript can hold of an instance (its exports, buffers over its memory) holds its anchor;
// Go frees the instances of unreachable anchors.
import { BriefRef, letGoAll } from "../../web/language/js/weakref.js";
import { host } from "../../web/webidl/js/host.js";

const anchors = new Map(); // BriefRefs, by the number of the instance
const CODES = 2 ** 20; // a code is an instance's number times this, and an index

export class Anchor {
  constructor(id) {
    this.id = id;
    this.imports = []; // JavaScript's functions, by the index of the import
    this.types = []; // their signatures; null for those of numbers and at most one result
    this.linked = new Set(); // anchors of instances that may hold references to this one's functions, or it to theirs
    this.memory = null;
    this.functions = new Map(); // that JavaScript has seen, by their code
    this.tables = new Map();
    this.globals = new Map();
    this.tags = new Map(); // by their numbers
    anchors.set(id, new BriefRef(this));
    remember(this);
  }
}

/** Called by Go: the numbers of instances that were lost since the last time. */
export function lost() {
  recent.clear();
  letGoAll();
  host.wasm_collect();
  const ids = [];
  for (const [id, anchor] of anchors) if (anchor.deref() === undefined) ids.push(id);
  for (const id of ids) anchors.delete(id);
  return ids;
}

// Some anchors asked for lately: looking at a WeakRef is slow, and keeps its target until the job ends.
const recent = new Map();

/** The anchor of an instance that is in use. */
export function anchorOf(id) {
  let anchor = recent.get(id);
  if (anchor === undefined) {
    anchor = anchors.get(id).deref();
    remember(anchor);
  }
  return anchor;
}

function remember(anchor) {
  if (recent.size >= 16) recent.clear();
  recent.set(anchor.id, anchor);
}

/** The anchor of the instance of a code. */
export function ownerOf(code) {
  return anchorOf(Math.floor(code / CODES));
}

/** The code of the only thing in an instance. */
export function firstOf(anchor) {
  return anchor.id * CODES;
}

/** Ties the lives of two instances together. */
export function link(a, b) {
  if (a === b) return;
  a.linked.add(b);
  b.linked.add(a);
}

class Same {
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: private fields are put on a given object so
    return object;
  }
}

/** Marks objects without a class of ours with their anchor and a code. */
class Mark extends Same {
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: never read, only held
  #anchor;
  #code;
  constructor(object, anchor, code) {
    super(object);
    this.#anchor = anchor;
    this.#code = code;
  }
  static code(object) {
    return #code in object ? object.#code : null;
  }
}

/** Makes object hold anchor. */
export function mark(object, anchor, code = null) {
  new Mark(object, anchor, code);
}

/** The code of an exported function; null for any other value. */
export function codeOf(value) {
  return typeof value === "function" ? Mark.code(value) : null;
}
