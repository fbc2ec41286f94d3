// https://webassembly.github.io/spec/js-api/#memories The buffer of a Memory is
// detached by its Memory alone: it cannot be transferred.
const pinned = new WeakSet();
const { apply } = Reflect;
let kept = false; // whether the methods of ArrayBuffer look

/** Makes a buffer one that cannot be transferred. */
export function pin(buffer) {
  pinned.add(buffer);
  if (kept) return;
  kept = true;
  for (const name of ["transfer", "transferToFixedLength"]) keep(name);
}

export function isPinned(buffer) {
  return pinned.has(buffer);
}

// Most Workers have no Memory, and the engine's own method.
function keep(name) {
  const original = ArrayBuffer.prototype[name];
  const { [name]: method } = {
    [name]() {
      if (isPinned(this))
        throw new TypeError(
          `ArrayBuffer.prototype.${name}: the buffer of a WebAssembly.Memory cannot be detached; copy it with slice()`,
        );
      return apply(original, this, arguments);
    },
  };
  Object.defineProperty(ArrayBuffer.prototype, name, { value: method });
}
