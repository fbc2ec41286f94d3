// Bytes as the functions of node:crypto take and give them.
import { Buffer } from "node:buffer";
import { invalidType } from "node:internal/errors";

export function isBytes(value) {
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer)
  );
}

/** The bytes of a string or of a buffer or view, in place. */
export function bytesFrom(value, encoding) {
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (value instanceof Uint8Array) return value;
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}

export function needBytes(value, name, encoding) {
  if (typeof value !== "string" && !isBytes(value))
    throw invalidType(name, ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"], value);
  return bytesFrom(value, encoding);
}

/** bytes as a Buffer, or as text with an encoding. */
export function output(bytes, encoding) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === null || encoding === "buffer" ? buffer : buffer.toString(encoding);
}

export default bytesFrom;
