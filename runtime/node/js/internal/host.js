// The runtime lends this object to the modules of Node.js alone: it reaches the bytes of
// keys. It is taken when the globals are, before the Worker's own code runs.
const door = Symbol.for("pages.node");
export const internals = globalThis[door];
delete globalThis[door];

/**
 * Asks Go for an operation, by name.
 * @type {(operation: NodeOperation, ...args: any[]) => any}
 */
export const call = internals.call;

/** The namespace of a module, evaluated now if it has not been. */
export function load(specifier) {
  return call("load", specifier);
}

/** A module as require gives it. */
export function required(specifier) {
  return load(specifier).default;
}

export default internals;
