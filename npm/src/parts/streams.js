// Streams of Node.js for the classes of bindings.
import { isDisturbed } from "node:stream";
import { bytesOf } from "./encoding.js";

/** Reports whether any of the stream was read or cancelled. */
export function disturbed(stream) {
  return isDisturbed(stream);
}

const lengths = new WeakMap();

/** Records how many bytes a stream will give; null if unknown. */
export function measured(stream, length) {
  if (length !== null) lengths.set(stream, length);
  return stream;
}

/** How many bytes a stream will give; undefined if unknown, as for bodies that Node.js makes. */
export function lengthOf(stream) {
  return lengths.get(stream);
}

/** A stream that calls next() for each piece; null ends it. */
export function streamOf(next, cancel) {
  return new ReadableStream(
    {
      type: "bytes",
      async pull(controller) {
        const piece = await next();
        if (piece !== null) return controller.enqueue(new Uint8Array(piece)); // the controller takes over its buffer, so pass a copy
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

/** Passes each piece of the stream to put, in turn, and returns the number of bytes. */
export async function pump(stream, put, _signal = null, bytesIn = piece) {
  const reader = stream.getReader();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return size;
      const bytes = bytesIn(value);
      size += bytes.byteLength;
      await put(bytes);
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** The bytes of a text piece, where the platform takes text. */
export function asText(value) {
  return typeof value === "string" ? new TextEncoder().encode(value) : piece(value);
}

function piece(value) {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes;
  throw new TypeError(
    `This ReadableStream did not return bytes.${
      typeof value === "string" ? " A piece is a string: encode text, with a TextEncoder or a TextEncoderStream." : ""
    }`,
  );
}

/** All bytes of a stream. */
export async function readAll(stream) {
  const pieces = [];
  await pump(stream, (bytes) => {
    pieces.push(bytes);
  });
  return new Uint8Array(Buffer.concat(pieces));
}
