// As the package unenv has it, and what the platform has beside.
import all from "unenv/node/url";

export * from "unenv/node/url";
/** The path of a file URL; anything else as it is. */
export function toPathIfFileURL(value) { return value instanceof URL ? all.fileURLToPath(value) : value; }
export default all;
