// Bytes as text, and back.

export function toHex(bytes) {
  return bytes.toHex();
}

export function fromHex(text) {
  return Uint8Array.fromHex(text);
}

export function toBase64(bytes) {
  return bytes.toBase64();
}

export function fromBase64(text) {
  return Uint8Array.fromBase64(text);
}
