// https://webassembly.github.io/spec/js-api/#instances
import { host } from "../../web/webidl/js/host.js";
import { Anchor, anchorOf, codeOf, firstOf, link, ownerOf } from "./anchor.js";
import { tagFields, tagOf } from "./exception.js";
import { LinkError } from "./error.js";
import { globalCode, globalOf, memoryId, memoryOf, newGlobal, refresh, tableCode, tableOf } from "./objects.js";
import { callImport, functionOf, isPlain } from "./value.js";

/** The exports of a new instance of a module, whose parts are as Go describes them. */
export function instantiate(module, [imports], importObject) {
  if ((importObject !== undefined && !isObject(importObject)) || (importObject === undefined && imports.length > 0)) {
    throw new TypeError("WebAssembly.Instance(): Imports argument must be present and must be an object");
  }
  const links = [],
    functions = [],
    types = [],
    owners = [];
  for (let n = 0; n < imports.length; n++) {
    const { module, name, kind, type } = imports[n];
    const from = importObject[module];
    if (!isObject(from))
      throw new TypeError(`WebAssembly.Instance(): Import #${n} "${module}": module is not an object or function`);
    const value = from[name];
    const what = `WebAssembly.Instance(): Import #${n} "${module}" "${name}"`;
    if (kind === "function") {
      if (typeof value !== "function") throw new LinkError(`${what}: function import requires a callable`);
      functions.push(value);
      types.push(isPlain(type) ? null : type);
    }
    const source = find[kind](value, type, owners);
    if (typeof source === "string") throw new LinkError(`${what}: ${source}`);
    links.push(source);
    if (kind !== "tag" && source >= 0) owners.push(kind === "memory" ? anchorOf(source) : ownerOf(source));
  }
  return start(host.wasm_instantiate(module, links), functions, types, owners);
}

/** If value is an object or a function. */
export function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

// By kind: the source of an import in the form for Go, or the reason why Go cannot use it.
const find = {
  __proto__: null,
  function: (value) => codeOf(value) ?? -1,
  memory: (value) => memoryId(value) ?? "memory import must be a WebAssembly.Memory object",
  table: (value) => tableCode(value) ?? "table import requires a WebAssembly.Table",
  tag(value, type, owners) {
    const fields = tagFields(value);
    if (fields === null) return "tag import requires a WebAssembly.Tag";
    if (fields.anchor !== null) owners.push(fields.anchor);
    return fields.number;
  },
  global(value, type, owners) {
    const code = globalCode(value);
    if (code !== null) return code;
    const made = () => {
      const anchor = newGlobal(type, false, value);
      owners.push(anchor);
      return firstOf(anchor);
    };
    switch (type) {
      case "I":
        return typeof value === "bigint" ? made() : "global import must be a BigInt";
      case "i":
      case "f":
      case "d":
        return typeof value === "number"
          ? made()
          : "global import must be a number, valid Wasm reference, or WebAssembly.Global object";
      default:
        return "global import must be a WebAssembly.Global object of the same type";
    }
  },
};

function start(id, functions, types, owners) {
  const anchor = new Anchor(id);
  anchor.imports = functions;
  anchor.types = types;
  for (const owner of owners) link(anchor, owner);
  const exports = Object.create(null);
  for (const x of host.wasm_exports(id)) {
    Object.defineProperty(exports, x.name, { value: exported(x), enumerable: true });
  }
  Object.preventExtensions(exports);
  host.wasm_start(id);
  return exports;
}

const KINDS = [
  ({ code }) => functionOf(code),
  ({ code, type }) => tableOf(code, type),
  ({ instance }) => memoryOf(instance),
  ({ code, type, mutable }) => globalOf(code, type, mutable),
  ({ code, type, instance }) => tagOf(code, type, instance),
];

function exported(x) {
  return KINDS[x.kind](x);
}

/** Go calls it when an instance calls an imported JavaScript function. */
export function called(id, index, ...args) {
  const anchor = anchorOf(id),
    f = anchor.imports[index],
    type = anchor.types[index];
  return type === null ? f(...args) : callImport(anchor, f, type, args);
}

export { lost } from "./anchor.js";

/** Called by Go: the memory of an instance grew. */
export function grown(id) {
  const memory = anchorOf(id)?.memory ?? null;
  if (memory !== null) refresh(memory);
}
