// https://compression.spec.whatwg.org/
import { host } from "../../webidl/js/host.js";
import { caution } from "../../language/js/caution.js";
import { encode, source } from "../../textcodec/js/encoding.js";
import { define, guarded, need } from "../../webidl/js/idl.js";
import { inRequest } from "../../iocontext/js/owner.js";
import { PLAIN, TransformStream, wanted } from "../../streams/js/streams.js";

const FORMATS = ["deflate", "deflate-raw", "gzip", "brotli"];

// The limit of a chunk for Go, which can be stopped between two chunks.
const PIECE = 65536;

// Kinds of steps.
const MORE = 0,
  LAST = 1;

// The amount of unread output after which writes wait. As on the platform, code may await its writes first and read afterwards.
const WAITING = {
  __proto__: null,
  highWaterMark: 16 << 20,
  size: (chunk) => (typeof chunk === "string" ? chunk.length : chunk.byteLength),
};

// The output of a short input may be a thousand times longer, so the pieces wait for a reader within one chunk as well as between two.
function coder(format, decompress) {
  let id = 0; // opened for the first chunk, on behalf of the request that writes it
  const step = (bytes, last) =>
    host.codec_step((id ||= host.codec_open(format, decompress)), bytes, last ? LAST : MORE);
  const drain = async (controller, first, last) => {
    let out = first;
    while (out !== null) {
      controller.enqueue(out);
      out = step(null, last);
      if (out !== null) await wanted(stream);
    }
  };
  const close = () => {
    if (id !== 0) host.codec_close(id);
  };
  const stream = new TransformStream(
    {
      async transform(chunk, controller) {
        const bytes = typeof chunk === "string" ? encode(chunk) : source(chunk, "The chunk"); // text is taken as on the platform
        for (let at = 0; at < bytes.byteLength; at += PIECE) {
          const out = step(bytes.subarray(at, at + PIECE), false);
          if (out === null) continue;
          if (at > 0) await wanted(stream);
          await drain(controller, out, false);
        }
      },
      flush(controller) {
        return drain(controller, step(null, true), true);
      },
      cancel: close,
    },
    PLAIN,
    WAITING,
  );
  return stream;
}

function formatOf(value) {
  inRequest();
  const format = `${value}`;
  if (!FORMATS.includes(format)) throw new TypeError(`"${format}" is not a compression format: ${FORMATS.join(", ")}`);
  if (format === "brotli") caution("CompressionStream", "brotli", "the format brotli");
  return format;
}

let compression, decompression;

class CompressionStream {
  #transform;
  static {
    compression = guarded("CompressionStream", (stream) => stream.#transform);
  }
  constructor(format) {
    need(arguments.length, 1, "CompressionStream constructor");
    this.#transform = coder(formatOf(format), false);
  }
  get readable() {
    return compression(this).readable;
  }
  get writable() {
    return compression(this).writable;
  }
}

class DecompressionStream {
  #transform;
  static {
    decompression = guarded("DecompressionStream", (stream) => stream.#transform);
  }
  constructor(format) {
    need(arguments.length, 1, "DecompressionStream constructor");
    this.#transform = coder(formatOf(format), true);
  }
  get readable() {
    return decompression(this).readable;
  }
  get writable() {
    return decompression(this).writable;
  }
}

export function install() {
  define("CompressionStream", CompressionStream);
  define("DecompressionStream", DecompressionStream);
}
