// Between streams of Node.js and of the web,
// https://nodejs.org/api/stream.html#streamreadabletowebstreamreadable-options.
import { invalidType } from "node:internal/errors";

/** Gives the classes of stream their methods toWeb and fromWeb. */
export function addWeb({ Readable, Writable, Duplex, finished, destroy }) {
  function readableToWeb(stream, options = {}) {
    if (typeof stream?._readableState !== "object") throw invalidType("streamReadable", "stream.Readable", stream);
    if (stream.destroyed || stream.readable === false)
      return new ReadableStream({
        start(controller) {
          controller.close();
        },
      });
    const objects = stream.readableObjectMode;
    const strategy =
      options.strategy ??
      (objects
        ? new CountQueuingStrategy({ highWaterMark: stream.readableHighWaterMark })
        : { highWaterMark: stream.readableHighWaterMark, size: (chunk) => chunk.byteLength ?? 1 });
    let canceled = false;
    stream.pause();
    return new ReadableStream(
      {
        start(controller) {
          stream.on("data", (chunk) => {
            if (chunk instanceof Uint8Array && !objects) chunk = new Uint8Array(chunk);
            controller.enqueue(chunk);
            if (controller.desiredSize <= 0) stream.pause();
          });
          finished(stream, { writable: false }, (error) => {
            if (canceled) return;
            canceled = true;
            if (error)
              controller.error(
                error.code === "ERR_STREAM_PREMATURE_CLOSE"
                  ? new DOMException("The operation was aborted", "AbortError")
                  : error,
              );
            else controller.close();
          });
          stream.pause();
        },
        pull() {
          stream.resume();
        },
        cancel(reason) {
          canceled = true;
          stream.on("error", () => {});
          destroy(stream, reason);
        },
      },
      strategy,
    );
  }

  function readableFromWeb(web, options = {}) {
    if (!(web instanceof ReadableStream)) throw invalidType("readableStream", "ReadableStream", web);
    const reader = web.getReader();
    let closed = false;
    const stream = new Readable({
      ...options,
      read() {
        reader.read().then(
          ({ value, done }) => {
            if (done) {
              closed = true;
              stream.push(null);
            } else {
              stream.push(
                typeof value === "string" || options.objectMode || ArrayBuffer.isView(value)
                  ? value
                  : new Uint8Array(value),
              );
            }
          },
          (error) => {
            closed = true;
            stream.destroy(error);
          },
        );
      },
      destroy(error, callback) {
        if (closed) return callback(error);
        closed = true;
        reader.cancel(error).then(
          () => callback(error),
          () => callback(error),
        );
      },
    });
    return stream;
  }

  function writableToWeb(stream) {
    if (typeof stream?._writableState !== "object") throw invalidType("streamWritable", "stream.Writable", stream);
    let drained = null,
      ended = false;
    return new WritableStream(
      {
        start(controller) {
          stream.on("drain", () => {
            drained?.resolve();
            drained = null;
          });
          finished(stream, { readable: false }, (error) => {
            if (error && !ended) controller.error(error);
            drained?.reject(error ?? new Error("The stream ended"));
            drained = null;
            ended = true;
          });
        },
        write(chunk) {
          if (stream.write(chunk) && !stream.writableNeedDrain) return undefined;
          drained = Promise.withResolvers();
          return drained.promise;
        },
        close() {
          return new Promise((resolve, reject) => {
            if (ended) return resolve();
            finished(stream, { readable: false }, (error) => (error ? reject(error) : resolve()));
            stream.end();
          });
        },
        abort(reason) {
          destroy(stream, reason);
        },
      },
      new CountQueuingStrategy({ highWaterMark: stream.writableObjectMode ? stream.writableHighWaterMark : 1 }),
    );
  }

  function writableFromWeb(web, options = {}) {
    if (!(web instanceof WritableStream)) throw invalidType("writableStream", "WritableStream", web);
    const writer = web.getWriter();
    let closed = false;
    const settle = (promise, callback) =>
      promise.then(
        () => callback(),
        (error) => callback(error ?? new Error("The stream failed")),
      );
    return new Writable({
      ...options,
      write(chunk, encoding, callback) {
        settle(
          writer.ready.then(() => writer.write(chunk)),
          callback,
        );
      },
      final(callback) {
        closed = true;
        settle(writer.close(), callback);
      },
      destroy(error, callback) {
        if (closed) return callback(error);
        closed = true;
        settle(error ? writer.abort(error) : writer.close(), () => callback(error));
      },
    });
  }

  Readable.toWeb = readableToWeb;
  Readable.fromWeb = readableFromWeb;
  Writable.toWeb = writableToWeb;
  Writable.fromWeb = writableFromWeb;
  Duplex.toWeb = (stream) => ({ readable: readableToWeb(stream), writable: writableToWeb(stream) });
  Duplex.fromWeb = ({ readable, writable }, options = {}) =>
    Duplex.from({ readable: readableFromWeb(readable, options), writable: writableFromWeb(writable, options) });
}

export default addWeb;
