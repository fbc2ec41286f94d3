// Features of the engine that V8 lacks: a Worker that used them would fail in production.
/** @type {any[][]} */
const PROPOSALS = [
  [Iterator.prototype, "chunks", "windows"],
  [ArrayBuffer.prototype, "immutable", "sliceToImmutable", "transferToImmutable"],
  [Function.prototype, "fileName", "lineNumber", "columnNumber"],
];

export function withdrawProposals() {
  for (const [object, ...keys] of PROPOSALS) for (const key of keys) delete object[key];
}
