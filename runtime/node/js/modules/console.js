// As the package unenv has it, which lacks assert.
import console from "unenv/node/console";

export * from "unenv/node/console";
export const { assert } = globalThis.console;
export default Object.assign(console, { assert });
