// A body from the host: all of its bytes, or the handle of a stream that it holds until the end of the request. And bodies for the host.
import { bytesOf as viewOf } from "../../../web/textcodec/js/encoding.js";
import { host } from "../../../web/webidl/js/host.js";
import {
  disturbed,
  lengthOf,
  measured,
  pump,
  readAll,
  streamOf as streamOfPieces,
} from "../../../web/streams/js/streams.js";

export { disturbed, lengthOf, pump, readAll as drain, viewOf };

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
  return measured(streamOfPieces(next, cancel), length);
}

/** All bytes of a body. */
export async function bytesOf(body) {
  return typeof body === "number" ? host.binding_read_all(body) : body;
}
