// What a standard has and production refuses works here, and is warned of.
import { host } from "../../webidl/js/host.js";
import { trace } from "./trace.js";

const said = new Set();

/** Says, once of each kind, what production refuses of an interface. */
export function caution(name, kind, what) {
  if (said.has(kind)) return;
  said.add(kind);
  host.console_log("warn", `${name}: production refuses ${what}`, trace(8));
}
