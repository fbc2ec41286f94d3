/** The bytes of an ArrayBuffer or view, without a copy, none of a detached one; undefined for anything else. */
export function bytesOf(value) {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer.detached) return new Uint8Array(0);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return value instanceof ArrayBuffer && value.detached ? new Uint8Array(0) : new Uint8Array(value);
  return undefined;
}
