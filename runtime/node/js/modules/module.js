// https://nodejs.org/api/module.html: require returns the modules of the runtime, since all others are in the bundle.
import { notImplemented, notImplementedClass } from "node:internal/absent";
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

/** Whether Node.js accepts filename as the path of a module. */
function isPlace(filename) {
  if (filename instanceof URL) return filename.protocol === "file:";
  return typeof filename === "string" && /^(\/|file:)/.test(filename);
}

/** A require for the modules of the runtime. */
export function createRequire(filename) {
  if (!isPlace(filename)) {
    const hint =
      filename === undefined
        ? "; import.meta.url is undefined in a Worker: import the module at the top of the file"
        : "";
    throw invalidValue(
      "filename",
      filename,
      `must be a file URL object, file URL string, or absolute path string${hint}`,
    );
  }
  return makeRequire();
}

function makeRequire() {
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
    return makeRequire()(id);
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
export const syncBuiltinESMExports = notImplemented("module.syncBuiltinESMExports");
export const findSourceMap = notImplemented("module.findSourceMap");
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
export const setSourceMapsSupport = notImplemented("module.setSourceMapsSupport");
export const _initPaths = notImplemented("module._initPaths");
export const _preloadModules = notImplemented("module._preloadModules");
export const _debug = notImplemented("module._debug");
export const _nodeModulePaths = notImplemented("module._nodeModulePaths");
export const _resolveLookupPaths = notImplemented("module._resolveLookupPaths");
export function _resolveFilename(id) {
  if (!isBuiltin(id)) throw missing(id);
  return id;
}
export function _load(id) {
  return makeRequire()(id);
}
export const SourceMap = notImplementedClass("module.SourceMap");
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
