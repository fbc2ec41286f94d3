// The strict mode of node:assert.
import assert from "node:assert";

const { strict } = /** @type {any} */ (assert);
export const {
  Assert,
  AssertionError,
  deepEqual,
  deepStrictEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  equal,
  fail,
  ifError,
  match,
  notDeepEqual,
  notDeepStrictEqual,
  notEqual,
  notStrictEqual,
  ok,
  partialDeepStrictEqual,
  rejects,
  strictEqual,
  throws,
  CallTracker,
} = strict;
export { strict };
export default strict;
