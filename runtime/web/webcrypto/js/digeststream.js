// https://developers.cloudflare.com/workers/runtime-apis/web-crypto/#constructors
import { host } from "../../webidl/js/host.js";
import { identifier, normalize } from "./algorithm.js";
import { bytesOf, encode } from "../../textcodec/js/encoding.js";
import { WritableStream } from "../../streams/js/streams.js";

/** A stream whose bytes are hashed; its digest is a promise of the hash. */
export class DigestStream extends WritableStream {
  #digest;
  #written = 0;
  #dispose;
  constructor(algorithm) {
    const { name } = normalize("digestStream", identifier(algorithm));
    const { promise, resolve, reject } = Promise.withResolvers();
    promise.catch(() => {}); // the promise may stay unobserved
    let state = host.crypto_hash(name); // the hash at rest: bytes, so that no snapshot loses it
    let count = (_size) => {};
    let dispose;
    super({
      start(controller) {
        dispose = () => {
          const error = new Error("The DigestStream was disposed.");
          controller.error(error);
          reject(error);
        };
      },
      write(chunk) {
        const bytes = typeof chunk === "string" ? encode(chunk) : bytesOf(chunk);
        if (bytes === undefined) throw refusal(reject);
        state = host.crypto_hash_write(name, state, bytes);
        count(bytes.byteLength);
      },
      close() {
        resolve(host.crypto_hash_sum(name, state).buffer);
      },
      abort: reject,
    });
    count = (size) => {
      this.#written += size;
    };
    this.#digest = promise;
    this.#dispose = dispose;
  }
  get digest() {
    return this.#digest;
  }
  get bytesWritten() {
    return BigInt(this.#written);
  }
  [Symbol.dispose]() {
    this.#dispose();
  }
}

function refusal(reject) {
  const error = new TypeError(
    "DigestStream is a byte stream but received an object of non-ArrayBuffer/ArrayBufferView/string type on its writable side.",
  );
  reject(error);
  return error;
}

Object.defineProperty(DigestStream.prototype, Symbol.toStringTag, { value: "DigestStream", configurable: true });
