// The WHATWG streams are the package web-streams-polyfill; this file adds the parts that the package leaves to the platform, and the state
// of a stream for bodies. Names that begin with private$ are the package's internals: only the prelude can reach a property with such a
// name.
import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";
import { bytesOf, concat, TextDecoder, encode } from "../../textcodec/js/encoding.js";
import { define, expose, platform } from "../../webidl/js/idl.js";

import { inRequest } from "../../iocontext/js/owner.js";

export { ReadableStream, TransformStream, WritableStream };

const { defineProperty, hasOwn } = Object;

/** Resolves once a transform's reader wants more; for a transform with much output from one chunk. */
export function wanted(transform) {
  return transform.private$backpressure ? transform.private$backpressureChangePromise : undefined;
}

/** Reports whether any of the stream was read or cancelled. */
export function disturbed(stream) {
  return stream.private$disturbed === true;
}

/** Reports whether a value is a stream itself, and neither a proxy nor an heir of one. */
export function isStream(value) {
  return value instanceof ReadableStream && hasOwn(value, CONTROLLER);
}

/** Reports whether a stream is one of bytes. */
export function isBytes(stream) {
  return stream[CONTROLLER] instanceof ReadableByteStreamController;
}

const lengths = new WeakMap();

// The strategies of our own streams. They inherit nothing: libraries give all objects a size().
const UNBUFFERED = { __proto__: null, highWaterMark: 0 };

/** The strategy of a stream that has the standard's. */
/** @type {any} */
export const PLAIN = { __proto__: null };

/** Notes how many bytes a stream will give; null when unknown. */
export function measured(stream, length) {
  if (length !== null) lengths.set(stream, length);
  return stream;
}

/** A stream with the chunks of another one, which becomes locked. */
export function through(stream) {
  return measured(stream.pipeThrough(new TransformStream(undefined, PLAIN, PLAIN)), lengthOf(stream));
}

/** How many bytes a stream will give; null when unknown. */
export function lengthOf(stream) {
  return lengths.get(stream) ?? null;
}

/** A stream of one piece of bytes, or of none. */
export function streamOfBytes(bytes) {
  return measured(
    lazy({
      type: "bytes",
      pull(controller) {
        if (bytes.byteLength > 0) controller.enqueue(bytes.slice());
        controller.close();
        controller.byobRequest?.respond(0);
      },
    }),
    bytes.byteLength,
  );
}

/** A stream that asks next() for each piece; null ends it. */
export function streamOf(next, cancel) {
  return lazy({
    type: "bytes",
    pull(controller) {
      return next().then((piece) => {
        if (piece !== null) return controller.enqueue(piece);
        controller.close();
        controller.byobRequest?.respond(0);
      });
    },
    cancel,
  });
}

const CONTROLLER = "private$readableStreamController";
const pullSteps = "private$PullSteps";

const own = new WeakSet(); // the controllers of sources that ask for no buffer
const LENT = 4096; // bytes, as on the platform

// A stream of bytes finds a buffer to fill in its byobRequest, as on the platform; the standard has none for a reader without buffers.
function lend(stream) {
  const controller = stream[CONTROLLER];
  if (isBytes(stream) && !own.has(controller)) controller.private$autoAllocateChunkSize ??= LENT;
}

// A stream of bytes whose controller is made when it is first read, teed or cancelled. Most bodies'
// streams only pass from one Response to the next, and the controller is the expensive part of a
// stream.
function lazy(source) {
  const stream = Object.create(ReadableStream.prototype);
  stream.private$state = "readable";
  stream.private$reader = stream.private$storedError = undefined;
  stream.private$disturbed = false;
  return defineProperty(stream, CONTROLLER, {
    get() {
      const controller = new ReadableStream(source, UNBUFFERED)[CONTROLLER];
      own.add(controller);
      controller.private$controlledReadableByteStream = this;
      defineProperty(this, CONTROLLER, { value: controller, writable: true, enumerable: false, configurable: true });
      return controller;
    },
    configurable: true,
  });
}

/** A stream that is read to its end and stays locked: the stream of a body that was used without one. */
export function spentStream() {
  const stream = new ReadableStream(
    {
      start(controller) {
        controller.close();
      },
    },
    PLAIN,
  );
  spend(stream);
  return stream;
}

/** Locks a stream, as if another reader were reading it. */
export function spend(stream) {
  stream.private$disturbed = true;
  stream.getReader();
}

/** The conversion of a chunk of text in pump, since the platform accepts text. */
export function asText(value) {
  return typeof value === "string" ? encode(value) : piece(value);
}

/**
 * Passes each chunk of the stream to put, in turn, and returns the number of
 * bytes; it cancels the stream if put fails. watch, if any, gets a function
 * that cancels the stream with a reason, and returns a function that ends its
 * use. bytesIn converts a chunk to bytes, or refuses it.
 */
export async function pump(stream, put, watch = null, bytesIn = piece) {
  const reader = stream.getReader();
  lend(stream);
  const cancel = (reason) => {
    reader.cancel(reason).catch(() => {});
  };
  const forget = watch === null ? () => {} : watch(cancel);
  let size = 0,
    value;
  const next = (resolve, reject) => {
    step(stream, {
      private$chunkSteps(chunk) {
        value = chunk;
        resolve(true);
      },
      private$closeSteps() {
        resolve(false);
      },
      private$errorSteps: reject,
    });
  };
  try {
    while (await new Promise(next)) {
      const bytes = bytesIn(value);
      size += bytes.byteLength;
      await put(bytes);
    }
    return size;
  } catch (error) {
    cancel(error);
    throw error;
  } finally {
    forget();
  }
}

// https://streams.spec.whatwg.org/#readable-stream-default-reader-read A promise reads the property
// then of read()'s result, which any code can put on Object.prototype; these steps get the chunk
// itself.
function step(stream, request) {
  stream.private$disturbed = true;
  if (stream.private$state === "closed") request.private$closeSteps();
  else if (stream.private$state === "errored") request.private$errorSteps(stream.private$storedError);
  else stream[CONTROLLER][pullSteps](request);
}

// As the platform: any ArrayBuffer or view, and no text.
function piece(value) {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes;
  throw new TypeError(
    `This ReadableStream did not return bytes.${
      typeof value === "string" ? " A piece is a string: encode text, with a TextEncoder or a TextEncoderStream." : ""
    }`,
  );
}

/** All bytes of a stream, or their conversion by convert. */
export async function readAll(stream, convert = (bytes) => bytes) {
  const pieces = [];
  await pump(stream, (bytes) => {
    pieces.push(bytes);
  });
  return convert(concat(pieces));
}

// https://encoding.spec.whatwg.org/#interface-textencoderstream
class TextEncoderStream {
  #transform;
  constructor() {
    let high = "";
    this.#transform = new TransformStream(
      {
        transform(chunk, controller) {
          let text = `${high}${chunk}`;
          high = "";
          const last = text.charCodeAt(text.length - 1);
          if (last >= 0xd800 && last <= 0xdbff) {
            high = text.slice(-1);
            text = text.slice(0, -1);
          }
          if (text !== "") controller.enqueue(encode(text));
        },
        flush(controller) {
          if (high !== "") controller.enqueue(encode(high));
        },
      },
      PLAIN,
      PLAIN,
    );
  }
  get encoding() {
    return this.#transform && "utf-8";
  }
  get readable() {
    return this.#transform.readable;
  }
  get writable() {
    return this.#transform.writable;
  }
}

// https://encoding.spec.whatwg.org/#interface-textdecoderstream
class TextDecoderStream {
  #transform;
  #decoder;
  constructor(label = "utf-8", options = undefined) {
    const decoder = (this.#decoder = new TextDecoder(label, options));
    this.#transform = new TransformStream(
      {
        transform(chunk, controller) {
          if (bytesOf(chunk) === undefined)
            throw new TypeError("TextDecoderStream: a chunk is neither an ArrayBuffer nor a view");
          const text = decoder.decode(chunk, { stream: true });
          if (text !== "") controller.enqueue(text);
        },
        flush(controller) {
          const text = decoder.decode();
          if (text !== "") controller.enqueue(text);
        },
      },
      PLAIN,
      PLAIN,
    );
  }
  get encoding() {
    return this.#decoder.encoding;
  }
  get fatal() {
    return this.#decoder.fatal;
  }
  get ignoreBOM() {
    return this.#decoder.ignoreBOM;
  }
  get readable() {
    return this.#transform.readable;
  }
  get writable() {
    return this.#transform.writable;
  }
}

const fixedLength = Symbol(); // only FixedLengthStream passes it to the constructor of its base

const filling = new WeakMap(); // by reader: its last pending call of readAtLeast

/**
 * Workers' own read of at least so many elements. At the end of the stream it
 * returns the rest, unlike read with min, which is done. Each call waits for
 * the previous one.
 */
async function readAtLeast(least, view) {
  const before = filling.get(this),
    { promise, resolve } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
  filling.set(this, promise);
  try {
    if (before !== undefined) await before;
    return await fill(this, least, view);
  } finally {
    if (filling.get(this) === promise) filling.delete(this);
    resolve();
  }
}

async function fill(reader, least, view) {
  const { buffer, byteOffset: start, byteLength, BYTES_PER_ELEMENT: size, constructor: View } = view;
  const wanted = +least * size;
  if (!(wanted > 0 && wanted <= byteLength))
    throw new TypeError(`Requested invalid minimum number of bytes to read (${least}).`);
  let rest = new Uint8Array(buffer, start, byteLength),
    filled = 0;
  for (;;) {
    const { done, value } = await reader.read(rest);
    if (value === undefined) return { done, value };
    filled += value.byteLength;
    if (done || filled >= wanted)
      return { done: done && filled === 0, value: new View(value.buffer, start, Math.floor(filled / size)) };
    rest = new Uint8Array(value.buffer, start + filled, byteLength - filled);
  }
}

/** Workers' transform that passes bytes on as they are; its readable side can fill buffers of its reader. */
class IdentityTransformStream extends TransformStream {
  #readable;
  /** @overload @param {...any} given */
  constructor() {
    inRequest();
    const [key, transform, flush] = arguments;
    super(
      key === fixedLength
        ? { transform, flush }
        : {
            transform(chunk, controller) {
              controller.enqueue(passed(chunk));
            },
          },
      PLAIN,
      PLAIN,
    );
    this.#readable = bytesFrom(super.readable.getReader());
  }
  get readable() {
    return this.#readable;
  }
}

/** Workers' transform that passes on exactly so many bytes. */
class FixedLengthStream extends IdentityTransformStream {
  constructor(length) {
    const expected = Number(length);
    if (!Number.isSafeInteger(expected) || expected < 0)
      throw new TypeError("FixedLengthStream: the length is not a whole number of bytes");
    let left = expected;
    super(
      fixedLength,
      (chunk, controller) => {
        const bytes = passed(chunk);
        left -= bytes.byteLength;
        if (left < 0) throw new TypeError("Attempt to write too many bytes through a FixedLengthStream.");
        controller.enqueue(bytes);
      },
      () => {
        if (left > 0) throw new TypeError("FixedLengthStream did not see all expected bytes before close().");
      },
    );
    measured(this.readable, expected);
  }
}

// A byte stream of a reader's chunks.
function bytesFrom(reader) {
  let failed = (_error) => {};
  reader.closed.catch((error) => {
    failed(error);
  });
  return new ReadableStream(
    {
      type: "bytes",
      start(controller) {
        failed = (error) => {
          controller.error(error);
        };
      },
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            controller.byobRequest?.respond(0);
            return;
          }
          if (value.byteLength > 0) return controller.enqueue(value.slice());
        }
      },
      cancel(reason) {
        return reader.cancel(reason);
      },
    },
    UNBUFFERED,
  );
}

// As on the platform, text is accepted, as UTF-8.
function passed(chunk) {
  const bytes = typeof chunk === "string" ? encode(chunk) : bytesOf(chunk);
  if (bytes === undefined)
    throw new TypeError(
      "This TransformStream is being used as a byte stream, " +
        "but received an object of non-ArrayBuffer/ArrayBufferView/string type on its writable side",
    );
  return bytes;
}

// https://streams.spec.whatwg.org/#readable-stream-pipe-to A pipe must not write in the call of enqueue() that provides a chunk; the
// package's does. A pipe uses a separate class for its reads, which the first one shows.
function writeLater() {
  const pulls = [ReadableStreamDefaultController, ReadableByteStreamController].map(({ prototype }) => [
    prototype,
    prototype[pullSteps],
  ]);
  const restore = () => {
    for (const [prototype, pull] of pulls) prototype[pullSteps] = pull;
  };
  for (const [prototype, pull] of pulls) {
    prototype[pullSteps] = function (request) {
      if (request.private$state !== undefined && request.private$promise !== undefined) {
        restore();
        deferChunks(Object.getPrototypeOf(request));
      }
      apply(pull, this, [request]);
    };
  }
}

function deferChunks(reads) {
  const write = reads.private$chunkSteps;
  reads.private$chunkSteps = function (chunk) {
    const pipe = this.private$state;
    pipe.private$currentWrite = apply(then, settled, [
      () => {
        if (pipe.private$writer.private$ownerWritableStream !== undefined) apply(write, this, [chunk]);
      },
    ]);
  };
}

// Cancelling the first branch of a stream does not wait for the other, as in production; the
// standard's would never settle while the other is unread. A failure of the stream reaches a
// cancelled branch in the same turn, too.
function cancelAtOnce(source, branches) {
  let first = true;
  for (const branch of branches) {
    const controller = branch[CONTROLLER],
      cancel = controller.private$cancelAlgorithm;
    controller.private$cancelAlgorithm = (reason) => {
      const whole = cancel(reason);
      if (!first) return whole;
      first = false;
      apply(then, whole, [undefined, () => {}]);
      return source.private$state === "errored" ? failed(source.private$storedError) : settled;
    };
  }
}

// The branches of a stream of known length are as long, as on the platform.
function measureBranches() {
  const { tee: split } = ReadableStream.prototype;
  const { tee } = {
    tee() {
      const length = lengthOf(this),
        whole = length !== null && !disturbed(this);
      const branches = apply(split, this, []);
      if (whole) for (const branch of branches) measured(branch, length);
      cancelAtOnce(this, branches);
      return branches;
    },
  };
  ReadableStream.prototype.tee = tee;
}

// The package rejects with a string if there is nothing to pipe to, and with a TypeError for null.
function refuseNothing() {
  const { pipeTo: pipe } = ReadableStream.prototype;
  const { pipeTo } = {
    pipeTo(destination, options = {}) {
      return apply(pipe, this, [destination ?? null, options]);
    },
  };
  ReadableStream.prototype.pipeTo = pipeTo;
}

const { apply } = Reflect;
const { then } = Promise.prototype;
const settled = Promise.resolve();
const failed = async (reason) => {
  throw reason;
};

const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));

export function install() {
  Object.setPrototypeOf(Object.getPrototypeOf(new ReadableStream().values()), AsyncIteratorPrototype);
  const classes = {
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    ReadableByteStreamController,
    ReadableStream,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableStreamDefaultController,
    ReadableStreamDefaultReader,
    TransformStream,
    TransformStreamDefaultController,
    WritableStream,
    WritableStreamDefaultController,
    WritableStreamDefaultWriter,
  };
  for (const [name, cls] of Object.entries(classes)) {
    expose(name, cls);
    platform.add(cls.prototype);
  }
  Reflect.deleteProperty(WritableStreamDefaultController.prototype, "abortReason"); // of a draft
  writeLater();
  measureBranches();
  refuseNothing();
  define("TextEncoderStream", TextEncoderStream);
  define("TextDecoderStream", TextDecoderStream);
  Object.defineProperty(ReadableStreamBYOBReader.prototype, "readAtLeast", {
    value: readAtLeast,
    writable: true,
    enumerable: true,
    configurable: true,
  });
  define("IdentityTransformStream", IdentityTransformStream);
  define("FixedLengthStream", FixedLengthStream);
}
