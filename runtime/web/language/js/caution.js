// Features of a standard that production refuses work here, with a warning.
import { host } from "../../webidl/js/host.js";
import { trace } from "./trace.js";

const said = new Set();

/** Warns, once for each kind, about the parts of an interface that production refuses. */
export function caution(name, kind, what) {
  say(name, kind, `refuses ${what}`);
}

/** Warns, once for each kind, about different behaviour of an interface in production. */
export function say(name, kind, what) {
  if (said.has(kind)) return;
  said.add(kind);
  host.console_log("warn", `${name}: production ${what}`, trace(8));
}
