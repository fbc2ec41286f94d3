// Features of Node.js that a Worker lacks. They can be imported; a call throws an error with the name and the alternative. unenv's modules
// import these functions by name.
import { NodeError } from "node:internal/errors";

const instead = {
  child_process: "a Worker cannot start processes",
  cluster: "a Worker cannot start processes; the platform runs as many as it needs",
  dgram: "a Worker has no UDP sockets; use fetch",
  dns: "a Worker resolves names only in fetch",
  domain: "use try and catch, or AsyncLocalStorage of node:async_hooks",
  fs: "a Worker has no file system; import the file, read it with env.ASSETS.fetch, or keep it in env.BUCKET",
  http: "the platform manages connections, header limits and informational responses",
  http2: "use fetch",
  https: "the platform manages connections and certificates",
  inspector: "use console.log",
  net: "a Worker has no sockets; use fetch, a client over HTTP, or the database binding env.DB",
  readline: "a Worker has no terminal",
  repl: "a Worker has no terminal",
  sqlite: "use the database binding env.DB",
  tls: "a Worker has no sockets; use fetch, a client over HTTP, or the database binding env.DB",
  trace_events: "use console.log",
  tty: "a Worker has no terminal",
  v8: "the engine is not V8",
  vm: "a Worker cannot run code from strings",
  wasi: "import the .wasm file and instantiate it with your own imports",
  worker_threads: "a Worker has no threads; use ctx.waitUntil",
};

/** The error of using name, "module.function". */
export function createNotImplementedError(name) {
  const full = name.replace(/^node:/, "");
  const module = full.split(/[./]/)[0];
  const hint = instead[module];
  return NodeError(
    Error,
    "ERR_METHOD_NOT_IMPLEMENTED",
    `${full} of Node.js is not available in a Worker${hint ? `: ${hint}` : ""}`,
  );
}

/** The error of an option, "module option", for a feature that a Worker lacks. */
export function absentOption(name) {
  const [module, option] = name.split(" ");
  return NodeError(
    Error,
    "ERR_OPTION_NOT_IMPLEMENTED",
    `the option ${option} of node:${module} cannot be set in a Worker: ${instead[module]}; remove it`,
  );
}

/** A function that throws when it is called. */
export function notImplemented(name) {
  const base = name.slice(name.lastIndexOf(".") + 1);
  return {
    [base]() {
      throw createNotImplementedError(name);
    },
  }[base];
}

/** notImplemented for functions that have a variant of promises. */
export function notImplementedAsync(name) {
  const f = /** @type {any} */ (notImplemented(name));
  f.__promisify__ = notImplemented(`${name}.__promisify__`);
  f.native = f;
  return f;
}

/** A class whose constructor throws. */
export function notImplementedClass(name) {
  const base = name.slice(name.lastIndexOf(".") + 1);
  const cls = {
    [base]: class {
      constructor() {
        throw createNotImplementedError(name);
      }
    },
  }[base];
  return cls;
}

/** A flat list of names and values, as http gives headers. */
export function rawHeaders(headers) {
  return Object.entries(headers).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((v) => [key, v]),
  );
}

/** One function that calls all. */
export function mergeFns(...functions) {
  return (...args) => {
    for (const f of functions) f(...args);
  };
}
