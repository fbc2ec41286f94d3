// https://nodejs.org/api/module.html: require gives what the runtime has, since
// all else is in the bundle.
import { notImplemented } from "node:internal/absent";
import { load } from "node:internal/host";
import { invalidValue, needString, NodeError } from "node:internal/errors";

export const builtinModules = `
assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises
domain events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix path/win32
perf_hooks process punycode querystring readline readline/promises repl stream stream/consumers stream/promises stream/web
string_decoder sys timers timers/promises tls
trace_events tty url util util/types v8 vm wasi worker_threads zlib`
  .trim()
  .split(/\s+/);

export function isBuiltin(name) {
  return builtinModules.includes(`${name}`.replace(/^node:/, "")) || name === "node:sqlite";
}

/** A require for what the runtime has. */
export function createRequire(filename) {
  if (
    !(filename instanceof URL) &&
    (typeof filename !== "string" || !/^(\/|[A-Za-z]:|file:|\w+\.)/.test(filename)) &&
    filename !== undefined
  ) {
    throw invalidValue("filename", filename, "must be a file URL object, file URL string, or absolute path string");
  }
  function require(id) {
    needString(id, "id");
    if (!isBuiltin(id)) throw missing(id);
    return load(`node:${id.replace(/^node:/, "")}`).default;
  }
  require.resolve = (id) => {
    if (!isBuiltin(id)) throw missing(id);
    return id;
  };
  require.cache = Object.create(null);
  require.extensions = Object.create(null);
  require.main = undefined;
  return require;
}

function missing(id) {
  return NodeError(
    Error,
    "MODULE_NOT_FOUND",
    `Cannot find module '${id}': a Worker requires modules of Node.js only at run time; ` +
      `import others at the top of a file, so that they are bundled`,
  );
}

export class Module {
  constructor(id = "", parent) {
    Object.assign(this, { id, path: "", exports: {}, parent, filename: null, loaded: false, children: [], paths: [] });
  }
  require(id) {
    return createRequire()(id);
  }
}

export class SourceMap {
  constructor(payload) {
    this.payload = payload;
  }
  findEntry() {
    return {};
  }
  findOrigin() {
    return {};
  }
}

export const constants = { compileCacheStatus: { FAILED: 0, ENABLED: 1, ALREADY_ENABLED: 2, DISABLED: 3 } };
export const globalPaths = [],
  _cache = Object.create(null),
  _extensions = Object.create(null),
  _pathCache = Object.create(null);
export function wrap(script) {
  return `(function (exports, require, module, __filename, __dirname) { ${script}\n});`;
}
export function syncBuiltinESMExports() {}
export function findSourceMap() {
  return undefined;
}
export function enableCompileCache() {
  return { status: 3 };
}
export function flushCompileCache() {}
export function getCompileCacheDir() {
  return undefined;
}
export function getSourceMapsSupport() {
  return { enabled: false, nodeModules: false, generatedCode: false };
}
export function setSourceMapsSupport() {}
export function _initPaths() {}
export function _preloadModules() {}
export function _debug() {}
export function _nodeModulePaths() {
  return [];
}
export function _resolveLookupPaths() {
  return [];
}
export function _resolveFilename(id) {
  if (!isBuiltin(id)) throw missing(id);
  return id;
}
export function _load(id) {
  return createRequire()(id);
}
export const findPackageJSON = notImplemented("module.findPackageJSON");
export const register = notImplemented("module.register");
export const registerHooks = notImplemented("module.registerHooks");
export const runMain = notImplemented("module.runMain");
export const stripTypeScriptTypes = notImplemented("module.stripTypeScriptTypes");
export const _findPath = notImplemented("module._findPath");

Object.assign(Module, {
  builtinModules,
  isBuiltin,
  createRequire,
  Module,
  SourceMap,
  constants,
  globalPaths,
  _cache,
  _extensions,
  _pathCache,
  wrap,
  syncBuiltinESMExports,
  findSourceMap,
  enableCompileCache,
  flushCompileCache,
  getCompileCacheDir,
  getSourceMapsSupport,
  setSourceMapsSupport,
  _initPaths,
  _preloadModules,
  _debug,
  _nodeModulePaths,
  _resolveLookupPaths,
  _resolveFilename,
  _load,
  findPackageJSON,
  register,
  registerHooks,
  runMain,
  stripTypeScriptTypes,
  _findPath,
});
export default Module;
