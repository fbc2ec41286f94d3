// https://nodejs.org/api/webstreams.html#utility-consumers
import { Buffer } from "node:buffer";

async function pieces(stream) {
  const list = [];
  for await (const chunk of stream)
    list.push(
      typeof chunk === "string"
        ? Buffer.from(chunk)
        : ArrayBuffer.isView(chunk)
          ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
          : Buffer.from(chunk),
    );
  return list;
}

export async function buffer(stream) {
  return Buffer.concat(await pieces(stream));
}
export async function arrayBuffer(stream) {
  const all = await buffer(stream);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
}
export async function bytes(stream) {
  return new Uint8Array(await arrayBuffer(stream));
}
export async function blob(stream) {
  return new Blob(await pieces(stream));
}
export async function text(stream) {
  const decoder = new TextDecoder();
  let out = "";
  for await (const chunk of stream) out += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return out + decoder.decode();
}
export async function json(stream) {
  return JSON.parse(await text(stream));
}

export default { arrayBuffer, blob, buffer, bytes, text, json };
