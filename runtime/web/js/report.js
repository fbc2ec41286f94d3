import { host } from "./host.js";
import { inspect } from "./inspect.js";

/** Tells the log of an exception that no code can catch any more. */
export function report(error) {
  const e = describe(error);
  host.console_log("error", `Uncaught ${e.name ? `${e.name}: ` : ""}${e.message}`, e.stack);
}

/** What is thrown, as the name, message and stack that Go is told; anything can be thrown. */
export function describe(error) {
  if (!isError(error)) return { name: "", message: inspect(error), stack: "" };
  const e = { name: text(error, "name") || "Error", message: text(error, "message"), stack: text(error, "stack") };
  for (let cause = text(error, "cause", true), depth = 0; cause && depth < 5; depth++) {
    e.stack += `\nCaused by: ${isError(cause) ? text(cause, "stack") || `${text(cause, "name")}: ${text(cause, "message")}` : inspect(cause)}`;
    cause = isError(cause) ? text(cause, "cause", true) : undefined;
  }
  return e;
}

function isError(value) {
  return Error.isError(value) || value instanceof Error || value instanceof DOMException;
}

// A getter of the author's may throw; a report must not.
function text(error, key, raw) {
  try {
    const value = error[key];
    return raw ? value : value === undefined ? "" : `${value}`;
  } catch {
    return raw ? undefined : "";
  }
}
