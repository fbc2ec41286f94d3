import { host } from "./host.js";
import { inspect } from "./inspect.js";

let announce = () => false;

/** Sets who hears first of what report is told; true is that nobody else need. */
export function reportTo(hear) { announce = hear; }

let announcing = false; // what listeners throw of it is not announced again

/** Tells of an exception that no code can catch any more: the global scope, then the log. */
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
  for (let i = 0; i < e.causes.length; i += 3) text += `\n  caused by ${headline(e.causes[i], e.causes[i + 1])}`;
  host.console_log("error", text, e.stack);
}

function headline(name, message) { return name === "" ? message : `${name}: ${message}`; }

const MAX_CAUSES = 5;

/**
 * What is thrown, as Go is told: name, message, stack, and the same three of
 * each cause in turn. Anything can be thrown.
 */
export function describe(error) {
  if (!isError(error)) return { name: "", message: inspect(error), stack: "", causes: [] };
  const causes = [];
  for (let e = read(error, "cause"); e !== undefined && e !== null && causes.length < 3 * MAX_CAUSES; e = isError(e) ? read(e, "cause") : null) {
    if (isError(e)) causes.push(text(e, "name") || "Error", text(e, "message"), text(e, "stack"));
    else causes.push("", inspect(e), "");
  }
  return { name: text(error, "name") || "Error", message: text(error, "message"), stack: text(error, "stack"), causes };
}

function isError(value) {
  return Error.isError(value) || value instanceof Error || value instanceof DOMException;
}

// A getter of the author's may throw; a report must not.
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
