// Cipheriv and Decipheriv, https://nodejs.org/api/crypto.html#class-cipheriv.
import { Buffer } from "node:buffer";
import { call } from "node:internal/host";
import { invalidType, needString, NodeError } from "node:internal/errors";
import { needBytes, output } from "node:internal/cryptobytes";
import { secretFrom } from "node:internal/keys";
import { makeLazyStream } from "node:internal/lazystream";

const badDecrypt = () =>
  Object.assign(NodeError(Error, "ERR_OSSL_BAD_DECRYPT", "error:1C800064:Provider routines::bad decrypt"), {
    library: "Provider routines",
    reason: "bad decrypt",
  });
const wrongLength = () =>
  Object.assign(
    NodeError(Error, "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH", "error:1C80006B:Provider routines::wrong final block length"),
    { library: "Provider routines", reason: "wrong final block length" },
  );

function begin(name, key, iv, encrypt, options = {}) {
  needString(name, "cipher");
  const info = call("cipher_info", name);
  if (info === null) throw NodeError(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  const [mode, keyLength, ivLength, block] = info;
  const keyBytes = secretFrom(key);
  if (keyBytes.length !== keyLength) throw NodeError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  if (iv === null ? ivLength !== 0 : undefined)
    throw NodeError(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
  const ivBytes = iv === null ? new Uint8Array(0) : Uint8Array.from(needBytes(iv, "iv"));
  if (mode === "gcm" ? ivBytes.length === 0 : ivBytes.length !== ivLength)
    throw NodeError(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
  const tagLength = options?.authTagLength;
  const aead = mode === "gcm" || mode === "poly1305";
  if (
    tagLength !== undefined &&
    aead &&
    (mode === "gcm" ? ![4, 8, 12, 13, 14, 15, 16].includes(tagLength) : !(tagLength >= 1 && tagLength <= 16))
  ) {
    throw NodeError(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${tagLength}`);
  }
  return {
    name,
    mode,
    block,
    encrypt,
    aead,
    key: Uint8Array.from(keyBytes),
    iv: ivBytes,
    tagLength: tagLength ?? 16,
    chosen: tagLength !== undefined,
    rest: new Uint8Array(0),
    position: 0,
    text: [],
    additional: [],
    tag: null,
    padding: true,
    done: false,
    encoding: undefined,
  };
}

function join(a, b) {
  return a.length === 0 ? b : Buffer.concat([a, b]);
}

// The complete blocks of CBC or ECB after more data; when decrypting, the last block waits for the
// end, since it may be padding.
function blocks(s, data) {
  const all = join(s.rest, data);
  const hold = !s.encrypt && s.padding && all.length % s.block === 0 && all.length > 0 ? s.block : all.length % s.block;
  const whole = all.subarray(0, all.length - hold);
  s.rest = Uint8Array.from(all.subarray(all.length - hold));
  return crypt(s, whole);
}

function crypt(s, whole) {
  if (whole.length === 0) return new Uint8Array(0);
  const out = call("cipher_blocks", s.name, s.encrypt, s.key, s.iv, whole);
  if (s.mode === "cbc") s.iv = Uint8Array.from((s.encrypt ? out : whole).slice(-s.block));
  return out;
}

function stream(s, data) {
  let out;
  if (s.mode === "gcm" && s.iv.length !== 12) {
    // Encrypting zeros yields the keystream of another iv.
    const before = s.position;
    const key = call("cipher_whole", s.name, s.key, s.iv, new Uint8Array(before + data.length));
    out = data.map((b, i) => b ^ key[before + i]);
  } else {
    out = call("cipher_stream", s.name, s.key, s.iv, s.position, data);
  }
  s.position += data.length;
  if (s.aead) s.text.push(Buffer.from(s.encrypt ? data : out));
  return out;
}

function finish(s) {
  if (s.aead) {
    const tag = call("cipher_tag", s.name, s.key, s.iv, Buffer.concat(s.additional), Buffer.concat(s.text)).subarray(
      0,
      s.tagLength,
    );
    if (s.encrypt) s.tag = tag;
    else if (s.tag === null || !call("equal", tag.subarray(0, s.tag.length), s.tag))
      throw new Error("Unsupported state or unable to authenticate data");
    return new Uint8Array(0);
  }
  if (s.mode === "ctr") return new Uint8Array(0);
  if (s.encrypt) {
    if (!s.padding) {
      if (s.rest.length > 0) throw wrongLength();
      return new Uint8Array(0);
    }
    const n = s.block - s.rest.length;
    return crypt(s, Buffer.concat([s.rest, new Uint8Array(n).fill(n)]));
  }
  if (s.rest.length === 0 && !s.padding) return new Uint8Array(0);
  if (s.rest.length !== s.block) throw wrongLength();
  const last = crypt(s, s.rest);
  if (!s.padding) return last;
  const n = last[s.block - 1];
  if (n < 1 || n > s.block || last.subarray(s.block - n).some((b) => b !== n)) throw badDecrypt();
  return last.subarray(0, s.block - n);
}

let stateOf;

class Base {
  #state;
  static {
    stateOf = (cipher) => cipher.#state;
  }
  constructor(name, key, iv, options, encrypt) {
    this.#state = begin(name, key, iv, encrypt, options);
    Object.defineProperty(this, "options", { value: options });
  }
  update(data, inputEncoding, outputEncoding) {
    const s = this.#state;
    const bytes = needBytes(data, "data", inputEncoding);
    if (s.done) throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation update");
    return output(s.mode === "cbc" || s.mode === "ecb" ? blocks(s, bytes) : stream(s, bytes), outputEncoding);
  }
  final(outputEncoding) {
    const s = this.#state;
    if (s.done) throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation final");
    s.done = true;
    return output(finish(s), outputEncoding);
  }
  setAutoPadding(on = true) {
    if (this.#state.done)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation setAutoPadding");
    this.#state.padding = !!on;
    return this;
  }
  setAAD(data, options) {
    const s = this.#state;
    const bytes = needBytes(data, "buffer", options?.encoding);
    if (!s.aead || s.done || s.position > 0)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation setAAD");
    s.additional.push(Buffer.from(bytes));
    return this;
  }
  /** @this {any} */
  _transform(chunk, encoding, callback) {
    this.push(this.update(chunk, encoding));
    callback();
  }
  /** @this {any} */
  _flush(callback) {
    try {
      this.push(this.final());
    } catch (error) {
      return callback(error);
    }
    callback();
  }
}

export class Cipheriv extends Base {
  constructor(name, key, iv, options) {
    super(name, key, iv, options, true);
  }
  getAuthTag() {
    const { tag } = stateOf(this);
    if (tag === null) throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation getAuthTag");
    return Buffer.from(tag);
  }
}

export class Decipheriv extends Base {
  constructor(name, key, iv, options) {
    super(name, key, iv, options, false);
  }
  setAuthTag(tag, encoding) {
    const s = stateOf(this);
    const bytes = needBytes(tag, "buffer", encoding);
    if (!s.aead || s.tag !== null || s.done)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation setAuthTag");
    const lengths = s.mode === "gcm" ? [4, 8, 12, 13, 14, 15, 16] : Array.from({ length: 16 }, (_, i) => i + 1);
    if (s.chosen ? bytes.length !== s.tagLength : !lengths.includes(bytes.length))
      throw NodeError(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${bytes.length}`);
    s.tag = Uint8Array.from(bytes);
    return this;
  }
}

makeLazyStream(Base, (cipher) => cipher.options);

const modes = { cbc: "cbc", ctr: "ctr", ecb: "ecb", gcm: "gcm", poly1305: "stream" };

export function getCiphers() {
  return call("cipher_names");
}

export function getCipherInfo(nameOrNid, options = {}) {
  if (typeof nameOrNid !== "string" && typeof nameOrNid !== "number")
    throw invalidType("nameOrNid", ["string", "number"], nameOrNid);
  const name =
    typeof nameOrNid === "string"
      ? nameOrNid
      : getCiphers().find((known) => call("cipher_info", known)[4] === nameOrNid);
  const info = name === undefined ? null : call("cipher_info", name);
  if (info === null) return undefined;
  const [mode, keyLength, ivLength, blockSize, nid, fullName] = info;
  if (options.keyLength !== undefined && options.keyLength !== keyLength) return undefined;
  if (options.ivLength !== undefined && options.ivLength !== ivLength && mode !== "gcm") return undefined;
  const out = { mode: modes[mode], name: fullName, nid };
  if (mode !== "poly1305") out.blockSize = blockSize;
  if (ivLength > 0) out.ivLength = options.ivLength ?? ivLength;
  out.keyLength = keyLength;
  return out;
}

export default Cipheriv;
