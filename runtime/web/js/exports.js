// The exports of a Worker's entry module.

// Other exports of Workers, which no manifest can configure.
const UNCALLED = ["scheduled", "queue", "email", "tail", "trace", "alarm"];

/** The handlers that nothing calls, as "scheduled and queue"; "" for none. */
function uncalledOf(worker) {
  const members = typeof worker === "function" ? worker.prototype : worker;
  return UNCALLED.filter((name) => typeof members[name] === "function")
    .join(", ")
    .replace(/, (\w+)$/, " and $1");
}

/** The warning of handlers that nothing calls; "" for none. */
export function warningOf(worker) {
  const list = uncalledOf(worker);
  if (list === "") return "";
  const [handlers, are] = list.includes(" ") ? ["the handlers", "are"] : ["a handler", "is"];
  return `the default export has ${handlers} ${list}, which ${are} never called on this platform: it has no triggers`;
}

/** The default export: an object with a fetch handler, or a class that extends WorkerEntrypoint. It throws for any other. */
export function workerOf(namespace, WorkerEntrypoint) {
  if (!("default" in namespace)) {
    throw new TypeError(
      "the entry module has no default export; write: export default { fetch(request, env, ctx) { … } }",
    );
  }
  const worker = namespace.default;
  if (typeof worker === "function") {
    if (!(worker.prototype instanceof WorkerEntrypoint)) {
      throw new TypeError(
        "the default export is a function; it must be an object with a fetch handler, or a class that extends WorkerEntrypoint",
      );
    }
    if (typeof worker.prototype.fetch !== "function")
      throw new TypeError(`the default export's class ${worker.name} has no fetch method`);
    return worker;
  }
  if (typeof worker !== "object" || worker === null) {
    throw new TypeError(
      `the default export is ${worker === null ? "null" : `of type ${typeof worker}`}; it must be an object with a fetch handler`,
    );
  }
  if (typeof worker.fetch !== "function") {
    const list = uncalledOf(worker);
    throw new TypeError(
      `the default export has no fetch handler${list === "" ? "" : `, only ${list}: the platform has no triggers`}`,
    );
  }
  return worker;
}

/** The words for the function that must return a Response. */
export function subjectOf(worker) {
  return typeof worker === "function"
    ? `the method fetch of the default export's class ${worker.name}`
    : "the fetch handler of the default export";
}

/** The fault of a value that is not a Response. */
export function noResponse(subject, value) {
  return `${subject} returned ${kind(value)}, not a Response`;
}

function kind(value) {
  if (value === undefined) return "undefined";
  if (value === null) return "null";
  const name = typeof value === "object" ? value.constructor?.name : undefined;
  return name ? `a value of class ${name}` : `a value of type ${typeof value}`;
}
