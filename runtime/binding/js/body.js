// A body that the host handed over: all of its bytes, or the handle of a stream
// that it holds until the end of the request.
import { host } from "../../web/js/host.js";

/**
 * The key of a stream's property that says how many bytes it gives: a number,
 * null for a stream that cannot say, or absent where nobody has said anything.
 */
export const LENGTH = Symbol.for("pages.stream.length");

/** The stream of a body; used is called when it is first read or cancelled. */
export function streamOf(body, length, used = () => {}) {
  let bytes = typeof body === "number" ? null : body;
  const stream = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      used();
      const piece = bytes === null ? await host.binding_read(body) : bytes.byteLength > 0 ? bytes : null;
      if (bytes !== null) bytes = new Uint8Array(0);
      if (piece !== null) return controller.enqueue(piece);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel() {
      used();
      if (typeof body === "number") host.binding_close(body);
    },
  }, { highWaterMark: 0 });
  if (length !== undefined) Object.defineProperty(stream, LENGTH, { value: length });
  return stream;
}

/** All bytes of a body. */
export async function bytesOf(body) {
  return typeof body === "number" ? host.binding_read_all(body) : body;
}

/** The bytes of an ArrayBuffer or a view of one, in place; undefined for all else. */
export function viewOf(value) {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return undefined;
}

/** Gives each piece of a stream to put, in turn, and returns how many bytes there were. */
export async function pump(stream, put) {
  const reader = stream.getReader();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return size;
      const bytes = viewOf(value);
      if (bytes === undefined) throw new TypeError("The stream holds something that is not bytes");
      size += bytes.byteLength;
      await put(bytes);
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** All bytes of a stream. */
export async function drain(stream) {
  const pieces = [];
  const all = new Uint8Array(await pump(stream, (bytes) => { pieces.push(bytes.slice()); }));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.byteLength;
  }
  return all;
}
