// Bytes as text, and back, with the errors of the methods that Node.js has from version 25 on.

export function toHex(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

export function fromHex(text) {
  return new Uint8Array(Buffer.from(text, "hex"));
}

export function toBase64(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

export function fromBase64(text) {
  return new Uint8Array(Buffer.from(atob(text), "latin1"));
}
