// A body that the host handed over: all of its bytes, or the handle of a stream
// that it holds until the end of the request. And bodies on their way to it.
import { bytesOf as viewOf } from "../../web/js/encoding.js";
import { host } from "../../web/js/host.js";
import * as streams from "../../web/js/streams.js";

export { viewOf };
export { lengthOf } from "../../web/js/streams.js";

/** The stream of a body of length bytes (null: unknown); used is called when it is first read or cancelled. */
export function streamOf(body, length, used = () => {}) {
  let rest = body;
  const next = async () => {
    used();
    if (typeof rest === "number") return host.binding_read(rest);
    const piece = rest;
    rest = null;
    return piece !== null && piece.byteLength > 0 ? piece : null;
  };
  const cancel = () => {
    used();
    if (typeof body === "number") host.binding_close(body);
  };
  return streams.measured(streams.streamOf(next, cancel), length);
}

/** All bytes of a body. */
export async function bytesOf(body) {
  return typeof body === "number" ? host.binding_read_all(body) : body;
}

function bytesIn(value) {
  const bytes = viewOf(value);
  if (bytes === undefined) throw new TypeError("The stream holds something that is not bytes");
  return bytes;
}

/** Gives each piece of a stream to put, in turn, and returns how many bytes there were. */
export function pump(stream, put) { return streams.pump(stream, put, bytesIn); }

/** All bytes of a stream. */
export function drain(stream) { return streams.readAll(stream, bytesIn); }
