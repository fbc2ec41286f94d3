// Features of a standard that production refuses work here, with a warning.
import { host } from "../../webidl/js/host.js";
import { trace } from "./trace.js";

const said = new Set();

/** Says, once of each kind, what production refuses of an interface. */
export function caution(name, kind, what) {
  say(name, kind, `refuses ${what}`);
}

/** Says, once of each kind, what production does of an interface. */
export function say(name, kind, what) {
  if (said.has(kind)) return;
  said.add(kind);
  host.console_log("warn", `${name}: production ${what}`, trace(8));
}
