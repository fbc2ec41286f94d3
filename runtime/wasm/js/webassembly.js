// https://webassembly.github.io/spec/js-api/ as on the platform: modules come only from import statements. Go runs them (runtime/wasm).
import { host } from "../../web/webidl/js/host.js";
import { bytesOf } from "../../web/textcodec/js/encoding.js";
import { dress, expose, guarded } from "../../web/webidl/js/idl.js";
import { Exception, JSTag, Tag } from "./exception.js";
import { CompileError, LinkError, RuntimeError } from "./error.js";
import { instantiate, isObject } from "./instance.js";
import { Global, Memory, Table } from "./objects.js";

export { error } from "./error.js";
export { caught, slot, thrown } from "./exception.js";
export { called, grown, lost } from "./instance.js";

const DISALLOWED =
  'Wasm code generation disallowed by embedder; import the file instead: import module from "./file.wasm"';
const LOADED = Symbol("loaded");

let isModule, idOf, partsOf, exportsOf;

class Module {
  #id;
  #parts = null;
  static {
    isModule = (value) => typeof value === "object" && value !== null && #id in value;
    idOf = (module) => module.#id;
    partsOf = (module) => (module.#parts ??= host.wasm_describe(module.#id));
  }
  /** @overload @param {...any} given */
  constructor(bytes) {
    if (arguments[0] !== LOADED) refuse("WebAssembly.Module()", bytes);
    this.#id = arguments[1];
  }
  static imports(module) {
    return parts(module, "imports")[0].map(({ module, name, kind }) => ({ module, name, kind }));
  }
  static exports(module) {
    return parts(module, "exports")[1].map(({ name, kind }) => ({ name, kind }));
  }
  static customSections(module, name) {
    parts(module, "customSections");
    if (name === undefined) throw new TypeError("WebAssembly.Module.customSections(): Argument 1 is required");
    const wanted = `${name}`;
    return wanted.isWellFormed() ? host.wasm_customs(idOf(module), wanted).map((bytes) => bytes.buffer) : []; // names are UTF-8
  }
}

function parts(module, what) {
  if (!isModule(module)) throw new TypeError(`WebAssembly.Module.${what}(): Argument 0 must be a WebAssembly.Module`);
  return partsOf(module);
}

// Throws the platform's error for compiling bytes.
function refuse(what, bytes) {
  if (bytesOf(bytes) === undefined) throw new TypeError(`${what}: Argument 0 must be a buffer source`);
  throw new CompileError(`${what}: ${DISALLOWED}`);
}

class Instance {
  #exports;
  static {
    exportsOf = guarded("WebAssembly.Instance", (instance) => instance.#exports);
  }
  /** @overload @param {...any} given */
  constructor(module) {
    if (!isModule(module)) throw new TypeError("WebAssembly.Instance(): Argument 0 must be a WebAssembly.Module");
    this.#exports = instantiate(idOf(module), partsOf(module), arguments[1]);
  }
  get exports() {
    return exportsOf(this);
  }
}

async function streamed(what, source) {
  await source;
  throw new CompileError(`${what}: ${DISALLOWED}`);
}

const namespace = {
  compile(bytes) {
    return new Promise(() => refuse("WebAssembly.compile()", bytes));
  },
  validate(bytes) {
    const view = bytesOf(bytes);
    if (view === undefined) throw new TypeError("WebAssembly.validate(): Argument 0 must be a buffer source");
    return host.wasm_validate(view);
  },
  instantiate(source) {
    const imports = arguments[1];
    return new Promise((resolve) => {
      if (isModule(source)) resolve(new Instance(source, imports));
      else if (bytesOf(source) === undefined)
        throw new TypeError("WebAssembly.instantiate(): Argument 0 must be a buffer source or a WebAssembly.Module");
      else if (imports !== undefined && !isObject(imports))
        throw new TypeError("WebAssembly.instantiate(): Argument 1 must be an object");
      else refuse("WebAssembly.instantiate()", source);
    });
  },
  compileStreaming(source) {
    return streamed("WebAssembly.compileStreaming()", source);
  },
  instantiateStreaming(source) {
    return streamed("WebAssembly.instantiateStreaming()", source);
  },
};

export function install() {
  for (const cls of [Module, Instance, Memory, Table, Global, Tag, Exception]) {
    dress(`WebAssembly.${cls.name}`, cls);
    Object.defineProperty(namespace, cls.name, { value: cls, writable: true, configurable: true });
    if (cls === Tag) Object.defineProperty(namespace, "JSTag", { value: JSTag, configurable: true });
  }
  for (const cls of [CompileError, LinkError, RuntimeError]) {
    Object.defineProperty(namespace, cls.name, { value: cls, writable: true, configurable: true });
  }
  Object.defineProperty(namespace, Symbol.toStringTag, { value: "WebAssembly", configurable: true });
  expose("WebAssembly", namespace);
  // The sources of .wasm modules read this.
  Object.defineProperty(globalThis, Symbol.for("pages.wasm"), {
    value: (specifier) => new Module(LOADED, host.wasm_load(`${specifier}`)),
  });
}
