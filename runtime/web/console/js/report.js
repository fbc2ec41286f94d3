import { host } from "../../webidl/js/host.js";
import { behind, inspect } from "./inspect.js";
import { isNativeError } from "../../webidl/js/kinds.js";

const NativeError = Error; // the author may replace it

let announce = (_error) => false;

/** Sets the first listener of report; it returns true for an error that it has handled. */
export function reportTo(hear) {
  announce = hear;
}

let announcing = false; // exceptions of its listeners are not announced again

/** Reports an exception that no code can catch any more: to the global scope, then to the log. */
export function report(error, where = "Uncaught") {
  if (where === "Uncaught" && !announcing) {
    announcing = true;
    try {
      if (announce(error)) return;
    } finally {
      announcing = false;
    }
  }
  const e = describe(error);
  let text = `${where} ${headline(e.name, e.message)}`;
  for (let i = 0; i < e.causes.length; i += FIELDS)
    text += `\n  ${e.causes[i] === PART ? "one of" : "caused by"} ${headline(e.causes[i + 1], e.causes[i + 2])}`;
  host.console_log("error", text, e.stack);
}

function headline(name, message) {
  return name === "" ? message : message === "" ? name : `${name}: ${message}`;
}

const MAX_CAUSES = 5;
const MAX_PARTS = 10;
const FIELDS = 4; // of each cause: its role, name, message, stack
const CAUSE = "cause",
  PART = "errors";

/**
 * An exception for Go: name, message, stack, and its causes: for each
 * its role, name, message and stack, first the errors of an AggregateError, then
 * the chain of causes. Anything can be thrown.
 */
export function describe(thrown) {
  const error = behind(thrown) ?? thrown; // a revoked proxy has nothing else
  if (!isError(error)) return { name: "", message: safely(error), stack: "", causes: [] };
  const causes = [],
    parts = read(error, "errors");
  if (Array.isArray(parts)) for (const part of parts.slice(0, MAX_PARTS)) causes.push(PART, ...fieldsOf(part));
  let count = 0;
  for (
    let e = read(error, "cause");
    e !== undefined && e !== null && count < MAX_CAUSES;
    e = isError(e) ? read(e, "cause") : null, count++
  ) {
    causes.push(CAUSE, ...fieldsOf(e));
  }
  const [name, message, stack] = fieldsOf(error);
  return { name, message, stack, causes };
}

function fieldsOf(thrown) {
  const error = behind(thrown) ?? thrown;
  return isError(error)
    ? [text(error, "name") || "Error", text(error, "message"), text(error, "stack")]
    : ["", safely(error), ""];
}

// The author's code in inspect may throw; a report must not.
function safely(value) {
  try {
    return inspect(value);
  } catch {
    return "a value that cannot be shown";
  }
}

// The author's trap may throw; a report must not.
function isError(value) {
  try {
    return isNativeError(value) || value instanceof NativeError || value instanceof DOMException;
  } catch {
    return false;
  }
}

// The author's getter may throw; a report must not.
function read(error, key) {
  try {
    return error[key];
  } catch {
    return undefined;
  }
}

function text(error, key) {
  const value = read(error, key);
  return typeof value === "string" ? value : "";
}
