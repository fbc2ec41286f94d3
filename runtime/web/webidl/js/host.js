// Go's host functions. The entry script removes the object from the global once every module has
// it.
export const host = globalThis.__host;
