// https://nodejs.org/api/stream.html, by Node.js's own code in the package
// readable-stream.
import all from "readable-stream/lib/stream";
import state from "readable-stream/lib/internal/streams/state";
import { Buffer } from "node:buffer";
import { addWeb } from "node:internal/webstream";

/** Two streams: each reads the data that is written to the other. */
export function duplexPair(options) {
  const { Duplex } = all;
  const make = () => {
    const side = new Duplex({
      ...options,
      read() {
        const done = this.waiting;
        this.waiting = null;
        done?.();
      },
      write(chunk, encoding, callback) {
        if (chunk.length === 0) return process.nextTick(callback);
        this.other.push(chunk);
        this.other.waiting = callback;
      },
      final(callback) {
        this.other.on("end", callback);
        this.other.push(null);
      },
    });
    side.waiting = null;
    return side;
  };
  const pair = [make(), make()];
  pair[0].other = pair[1];
  pair[1].other = pair[0];
  return pair;
}

// readable-stream has the size of buffers of Node.js 18.
export const { getDefaultHighWaterMark, setDefaultHighWaterMark } = state;
setDefaultHighWaterMark(false, 65536);

all._uint8ArrayToBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
all._isArrayBufferView = ArrayBuffer.isView;
all._isUint8Array = (value) => value instanceof Uint8Array;
// Writable's own method notifies waiting writers; in the package, a Duplex has Readable's instead.
all.Duplex.prototype.destroy = all.Writable.prototype.destroy;
Object.assign(all, { duplexPair, getDefaultHighWaterMark, setDefaultHighWaterMark });
addWeb(all);

export const {
  Duplex,
  PassThrough,
  Readable,
  Stream,
  Transform,
  Writable,
  _isArrayBufferView,
  _isUint8Array,
  _uint8ArrayToBuffer,
  addAbortSignal,
  compose,
  destroy,
  finished,
  isDestroyed,
  isDisturbed,
  isErrored,
  isReadable,
  isWritable,
  pipeline,
  promises,
} = all;
export default all;
