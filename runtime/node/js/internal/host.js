// What the runtime lends to the modules of Node.js.
export const internals = globalThis[Symbol.for("pages.node")];

/** Asks Go for an operation, by name. */
export const call = internals.call;

/** The namespace of a module, evaluated now if it has not been. */
export function load(specifier) { return call("load", specifier); }

/** A module as require gives it. */
export function required(specifier) { return load(specifier).default; }

export default internals;
