// The functions that Go answers. The entry script takes the object off the
// global once every module has it.
export const host = globalThis.__host;
