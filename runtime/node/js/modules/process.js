// https://nodejs.org/api/process.html, as far as a Worker is one.
import { EventEmitter } from "node:events";
import { createNotImplementedError, notImplemented } from "node:internal/absent";
import { internals, load } from "node:internal/host";
import { invalidType, invalidValue, needFunction, needString, NodeError } from "node:internal/errors";

const VERSION = "22.23.4";
const { clock, log } = internals;

class Process extends EventEmitter {}
const process = Object.create(Process.prototype);
EventEmitter.init.call(process);
Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });

// Every value becomes a string, as in an environment.
const env = new Proxy(initial(), {
  set(target, key, value) {
    if (typeof key === "symbol" || typeof value === "symbol")
      throw new TypeError("Cannot convert a Symbol value to a string");
    target[key] = `${value}`;
    return true;
  },
  defineProperty(target, key, property) {
    if (!("value" in property))
      throw NodeError(
        TypeError,
        "ERR_INVALID_OBJECT_DEFINE_PROPERTY",
        "'process.env' does not accept an accessor(getter/setter) descriptor",
      );
    return Reflect.defineProperty(target, key, {
      value: `${property.value}`,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  },
});

// The site's secrets, as the platform puts them there.
function initial() {
  const variables = {};
  for (const [name, value] of Object.entries(globalThis[Symbol.for("pages.workers")].env)) {
    if (typeof value === "string") variables[name] = value;
  }
  return variables;
}

function hrtime(previous) {
  const now = clock(),
    seconds = Math.floor(now / 1000),
    nanos = Math.floor((now % 1000) * 1e6);
  if (previous === undefined) return [seconds, nanos];
  if (!Array.isArray(previous)) throw invalidType("time", "Array", previous);
  const borrow = nanos < previous[1] ? 1 : 0;
  return [seconds - previous[0] - borrow, nanos - previous[1] + borrow * 1e9];
}
hrtime.bigint = function bigint() {
  return BigInt(Math.floor(clock() * 1e6));
};

// Ticks run before other microtasks that are queued later, in one job.
let ticks = null;

function nextTick(callback, ...args) {
  needFunction(callback, "callback");
  const run = internals.bind?.(callback) ?? callback;
  if (ticks !== null) {
    ticks.push([run, args]);
    return;
  }
  ticks = [[run, args]];
  queueMicrotask(drain);
}

function drain() {
  let at = 0;
  try {
    while (at < ticks.length) {
      const [run, args] = ticks[at++];
      run(...args);
    }
  } finally {
    const rest = ticks.slice(at);
    ticks = null;
    if (rest.length > 0) {
      ticks = rest;
      queueMicrotask(drain);
    }
  }
}

function emitWarning(warning, type, code) {
  let detail = "";
  if (type !== null && typeof type === "object" && !Array.isArray(type)) ({ code, detail = "", type } = type);
  if (typeof type === "function") type = undefined;
  if (typeof warning === "string") {
    const text = warning;
    warning = new Error(text);
    warning.name = type ?? "Warning";
    if (code !== undefined) warning.code = code;
    if (detail) warning.detail = detail;
  } else if (!(warning instanceof Error)) {
    throw invalidType("warning", ["string", "Error"], warning);
  }
  if (warning.name === "DeprecationWarning" && process.noDeprecation) return;
  nextTick(() => {
    log(
      "warn",
      `${warning.code ? `[${warning.code}] ` : ""}${warning.name}: ${warning.message}${warning.detail ? `\n${warning.detail}` : ""}`,
      "",
    );
    process.emit("warning", warning);
  });
}

function absent(name) {
  return {
    [name]() {
      throw createNotImplementedError(`process.${name}`);
    },
  }[name];
}

let directory = "/bundle",
  mask = 0o22;
const memory = () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 });
memory.rss = () => 0;

const own = {
  version: `v${VERSION}`,
  versions: Object.fromEntries(
    [
      "node",
      "v8",
      "modules",
      "zlib",
      "brotli",
      "zstd",
      "ares",
      "napi",
      "llhttp",
      "nghttp2",
      "acorn",
      "ada",
      "simdutf",
      "nbytes",
      "ncrypto",
      "uvwasi",
      "uv",
      "openssl",
      "sqlite",
      "icu",
      "undici",
      "simdjson",
      "unicode",
      "cldr",
      "tz",
      "cjs_module_lexer",
      "amaro",
      "merve",
    ].map((name) => [name, name === "node" ? VERSION : ""]),
  ),
  title: "workerd",
  argv: ["workerd"],
  argv0: "workerd",
  execArgv: [],
  execPath: "",
  arch: "x64",
  platform: "linux",
  config: { target_defaults: { default_configuration: "Release" }, variables: {} },
  release: { name: "node", lts: true, sourceUrl: "", headersUrl: "" },
  pid: 1,
  ppid: 0,
  exitCode: undefined,
  debugPort: 0,
  connected: false,
  channel: null,
  domain: null,
  noDeprecation: false,
  throwDeprecation: false,
  traceDeprecation: false,
  sourceMapsEnabled: false,
  moduleLoadList: [],
  _preload_modules: [],
  _exiting: false,
  allowedNodeEnvironmentFlags: new Set(),
  features: {
    cached_builtins: true,
    debug: false,
    inspector: false,
    ipv6: true,
    openssl_is_boringssl: true,
    require_module: false,
    tls: true,
    tls_alpn: true,
    tls_ocsp: true,
    tls_sni: true,
    typescript: false,
    uv: true,
  },
  report: {
    compact: false,
    directory: "",
    filename: "",
    reportOnFatalError: false,
    reportOnSignal: false,
    reportOnUncaughtException: false,
    excludeNetwork: false,
    excludeEnv: false,
    signal: "SIGUSR2",
  },
  permission: { has: () => true },
  finalization: { register() {}, registerBeforeExit() {}, unregister() {} },
  env,
  hrtime,
  nextTick,
  emitWarning,
  cwd() {
    return directory;
  },
  chdir(path) {
    needString(path, "directory");
    directory = load("node:path").resolve(directory, path);
  },
  umask(next) {
    const before = mask;
    if (next !== undefined) {
      if (typeof next === "string" && !/^[0-7]+$/.test(next))
        throw invalidValue("mask", next, "must be a 32-bit unsigned integer or an octal string");
      mask = (typeof next === "string" ? Number.parseInt(next, 8) : next) & 0o777;
    }
    return before;
  },
  uptime() {
    return clock() / 1000;
  },
  memoryUsage: memory,
  cpuUsage: notImplemented("process.cpuUsage"),
  threadCpuUsage: notImplemented("process.threadCpuUsage"),
  resourceUsage() {
    return {
      userCPUTime: 0,
      systemCPUTime: 0,
      maxRSS: 0,
      sharedMemorySize: 0,
      unsharedDataSize: 0,
      unsharedStackSize: 0,
      minorPageFault: 0,
      majorPageFault: 0,
      swappedOut: 0,
      fsRead: 0,
      fsWrite: 0,
      ipcSent: 0,
      ipcReceived: 0,
      signalsCount: 0,
      voluntaryContextSwitches: 0,
      involuntaryContextSwitches: 0,
    };
  },
  constrainedMemory() {
    return 128 * 2 ** 20;
  },
  availableMemory() {
    return 128 * 2 ** 20;
  },
  getBuiltinModule(id) {
    const name = `${id}`.replace(/^node:/, "");
    return load("node:module").builtinModules.includes(name) ? load(`node:${name}`).default : undefined;
  },
  exit(code) {
    throw NodeError(
      Error,
      "ERR_WORKER_UNSUPPORTED_OPERATION",
      `process.exit(${code ?? ""}) was called, and a Worker cannot end its process: return a Response`,
    );
  },
  abort() {
    throw NodeError(
      Error,
      "ERR_WORKER_UNSUPPORTED_OPERATION",
      "process.abort() was called, and a Worker cannot end its process: throw an error",
    );
  },
  getuid: () => 0,
  geteuid: () => 0,
  getgid: () => 0,
  getegid: () => 0,
  getgroups: () => [0],
  assert(value, message) {
    if (!value) throw NodeError(Error, "ERR_ASSERTION", message || "assertion error");
  },
  ref() {},
  unref() {},
  setSourceMapsEnabled() {},
  setUncaughtExceptionCaptureCallback: notImplemented("process.setUncaughtExceptionCaptureCallback"),
  getActiveResourcesInfo: notImplemented("process.getActiveResourcesInfo"),
  hasUncaughtExceptionCaptureCallback: () => false,
  getSourceMapsSupport: () => ({ enabled: false, nodeModules: false, generatedCode: false }),
  _getActiveRequests: () => [],
  _getActiveHandles: () => [],
  _tickCallback() {},
  _debugProcess() {},
  _debugEnd() {},
  _startProfilerIdleNotifier() {},
  _stopProfilerIdleNotifier() {},
  _rawDebug(...args) {
    log("error", load("node:util").format(...args), "");
  },
};
for (const name of [
  "binding",
  "dlopen",
  "execve",
  "initgroups",
  "kill",
  "loadEnvFile",
  "openStdin",
  "reallyExit",
  "send",
  "setegid",
  "seteuid",
  "setgid",
  "setgroups",
  "setuid",
  "_fatalException",
  "_kill",
  "_linkedBinding",
])
  own[name] = absent(name);
Object.assign(process, own);

// Standard output is the console. It has the write methods of a Writable, without the weight of the stream module.
class Output extends EventEmitter {
  constructor(fd, level) {
    super();
    Object.assign(this, {
      fd,
      writable: true,
      destroyed: false,
      writableLength: 0,
      writableHighWaterMark: 16384,
      _type: "fs",
      _isStdio: true,
    });
    Object.defineProperty(this, "level", { value: level });
  }
  write(chunk, encoding, callback) {
    if (typeof chunk !== "string" && !ArrayBuffer.isView(chunk))
      throw invalidType("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk);
    const text = typeof chunk === "string" ? chunk : internals.decode("utf-8", chunk, 0);
    log(this.level, text.replace(/\n$/, ""), "");
    const done = typeof encoding === "function" ? encoding : callback;
    if (done) nextTick(done);
    return true;
  }
  end(chunk, encoding, callback) {
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk, encoding);
    const done = [chunk, encoding, callback].find((arg) => typeof arg === "function");
    if (done) nextTick(done);
    return this;
  }
  cork() {}
  uncork() {}
  destroy() {
    return this;
  }
  hasColors() {
    return false;
  }
  getColorDepth() {
    return 1;
  }
}

// Standard input is at its end.
class Input extends EventEmitter {
  constructor() {
    super();
    Object.assign(this, { fd: 0, readable: false, destroyed: false });
  }
  read() {
    return null;
  }
  resume() {
    return this;
  }
  pause() {
    return this;
  }
  setEncoding() {
    return this;
  }
  pipe(destination) {
    destination.end();
    return destination;
  }
  on(type, listener) {
    if (type === "end" || type === "close") nextTick(listener);
    return super.on(type, listener);
  }
  async *[Symbol.asyncIterator]() {}
}

Object.assign(process, { stdin: new Input(), stdout: new Output(1, "log"), stderr: new Output(2, "error") });

// The global scope reports rejections once the first listener registers
// here. The listener handles them, as in Node.js.
const tells = new Map([
  ["unhandledRejection", (event) => [event.reason, event.promise]],
  ["rejectionHandled", (event) => [event.promise]],
]);
process.on("newListener", (name) => {
  const told = tells.get(name);
  if (!tells.delete(name)) return;
  addEventListener(name.toLowerCase(), (event) => {
    if (process.emit(name, ...told(event))) event.preventDefault();
  });
});

export const {
  version,
  versions,
  title,
  argv,
  argv0,
  execArgv,
  execPath,
  arch,
  platform,
  config,
  release,
  pid,
  ppid,
  debugPort,
  connected,
  channel,
  domain,
  noDeprecation,
  throwDeprecation,
  traceDeprecation,
  sourceMapsEnabled,
  moduleLoadList,
  _preload_modules,
  _exiting,
  allowedNodeEnvironmentFlags,
  features,
  report,
  permission,
  finalization,
  cwd,
  chdir,
  umask,
  uptime,
  memoryUsage,
  cpuUsage,
  threadCpuUsage,
  resourceUsage,
  constrainedMemory,
  availableMemory,
  getBuiltinModule,
  exit,
  abort,
  getuid,
  geteuid,
  getgid,
  getegid,
  getgroups,
  assert,
  ref,
  unref,
  setSourceMapsEnabled,
  setUncaughtExceptionCaptureCallback,
  getActiveResourcesInfo,
  hasUncaughtExceptionCaptureCallback,
  getSourceMapsSupport,
  _getActiveRequests,
  _getActiveHandles,
  _tickCallback,
  _debugProcess,
  _debugEnd,
  _startProfilerIdleNotifier,
  _stopProfilerIdleNotifier,
  _rawDebug,
  binding,
  dlopen,
  execve,
  initgroups,
  kill,
  loadEnvFile,
  openStdin,
  reallyExit,
  send,
  setegid,
  seteuid,
  setgid,
  setgroups,
  setuid,
  _fatalException,
  _kill,
  _linkedBinding,
} = process;
const bound = (name) => process[name].bind(process);
export const [
  on,
  off,
  once,
  emit,
  addListener,
  removeListener,
  removeAllListeners,
  listeners,
  rawListeners,
  listenerCount,
  eventNames,
  prependListener,
  prependOnceListener,
  setMaxListeners,
  getMaxListeners,
] = [
  "on",
  "off",
  "once",
  "emit",
  "addListener",
  "removeListener",
  "removeAllListeners",
  "listeners",
  "rawListeners",
  "listenerCount",
  "eventNames",
  "prependListener",
  "prependOnceListener",
  "setMaxListeners",
  "getMaxListeners",
].map(bound);
export { emitWarning, env, hrtime, nextTick };
export const { _events, _eventsCount } = process;
export const { stdin, stdout, stderr } = process;
export default process;
