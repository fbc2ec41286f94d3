// The methods of Buffer that read and write numbers.
import { invalidType, NodeError, outOfRange } from "node:internal/errors";

const f32 = new Float32Array(1),
  f64 = new Float64Array(1);
const bytes32 = new Uint8Array(f32.buffer),
  bytes64 = new Uint8Array(f64.buffer);

function at(buffer, offset, size) {
  if (typeof offset !== "number") throw invalidType("offset", "number", offset);
  if (offset >= 0 && offset + size <= buffer.length && Number.isInteger(offset)) return offset;
  if (!Number.isInteger(offset)) throw outOfRange("offset", "an integer", offset);
  if (buffer.length < size)
    throw NodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  throw outOfRange("offset", `>= 0 and <= ${buffer.length - size}`, offset);
}

function check(value, min, max, size, bits = 8 * size) {
  if (value >= min && value <= max) return;
  const n = typeof min === "bigint" ? "n" : "";
  if (size <= 4 && n === "") throw outOfRange("value", `>= ${min} and <= ${max}`, value);
  throw outOfRange(
    "value",
    min === 0 || min === 0n
      ? `>= 0${n} and < 2${n} ** ${bits}${n}`
      : `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}`,
    value,
  );
}

const methods = {
  readUInt8(offset = 0) {
    return this[at(this, offset, 1)];
  },
  readInt8(offset = 0) {
    return (this[at(this, offset, 1)] << 24) >> 24;
  },
  readUInt16LE(offset = 0) {
    const o = at(this, offset, 2);
    return this[o] | (this[o + 1] << 8);
  },
  readUInt16BE(offset = 0) {
    const o = at(this, offset, 2);
    return (this[o] << 8) | this[o + 1];
  },
  readInt16LE(offset = 0) {
    const o = at(this, offset, 2);
    return ((this[o] | (this[o + 1] << 8)) << 16) >> 16;
  },
  readInt16BE(offset = 0) {
    const o = at(this, offset, 2);
    return (((this[o] << 8) | this[o + 1]) << 16) >> 16;
  },
  readUInt32LE(offset = 0) {
    const o = at(this, offset, 4);
    return (this[o] | (this[o + 1] << 8) | (this[o + 2] << 16) | (this[o + 3] << 24)) >>> 0;
  },
  readUInt32BE(offset = 0) {
    const o = at(this, offset, 4);
    return ((this[o] << 24) | (this[o + 1] << 16) | (this[o + 2] << 8) | this[o + 3]) >>> 0;
  },
  readInt32LE(offset = 0) {
    const o = at(this, offset, 4);
    return this[o] | (this[o + 1] << 8) | (this[o + 2] << 16) | (this[o + 3] << 24);
  },
  readInt32BE(offset = 0) {
    const o = at(this, offset, 4);
    return (this[o] << 24) | (this[o + 1] << 16) | (this[o + 2] << 8) | this[o + 3];
  },
  readUIntLE(offset, size) {
    return unsigned(this, offset, size, true);
  },
  readUIntBE(offset, size) {
    return unsigned(this, offset, size, false);
  },
  readIntLE(offset, size) {
    return signed(unsigned(this, offset, size, true), size);
  },
  readIntBE(offset, size) {
    return signed(unsigned(this, offset, size, false), size);
  },
  readBigUInt64LE(offset = 0) {
    const o = at(this, offset, 8);
    return BigInt(this.readUInt32LE(o)) | (BigInt(this.readUInt32LE(o + 4)) << 32n);
  },
  readBigUInt64BE(offset = 0) {
    const o = at(this, offset, 8);
    return (BigInt(this.readUInt32BE(o)) << 32n) | BigInt(this.readUInt32BE(o + 4));
  },
  readBigInt64LE(offset = 0) {
    return BigInt.asIntN(64, this.readBigUInt64LE(offset));
  },
  readBigInt64BE(offset = 0) {
    return BigInt.asIntN(64, this.readBigUInt64BE(offset));
  },
  readFloatLE(offset = 0) {
    return float(this, offset, f32, bytes32, false);
  },
  readFloatBE(offset = 0) {
    return float(this, offset, f32, bytes32, true);
  },
  readDoubleLE(offset = 0) {
    return float(this, offset, f64, bytes64, false);
  },
  readDoubleBE(offset = 0) {
    return float(this, offset, f64, bytes64, true);
  },
  writeFloatLE(value, offset = 0) {
    return putFloat(this, value, offset, f32, bytes32, false);
  },
  writeFloatBE(value, offset = 0) {
    return putFloat(this, value, offset, f32, bytes32, true);
  },
  writeDoubleLE(value, offset = 0) {
    return putFloat(this, value, offset, f64, bytes64, false);
  },
  writeDoubleBE(value, offset = 0) {
    return putFloat(this, value, offset, f64, bytes64, true);
  },
  writeUIntLE(value, offset, size) {
    return put(this, value, offset, size, true, false, true);
  },
  writeUIntBE(value, offset, size) {
    return put(this, value, offset, size, false, false, true);
  },
  writeIntLE(value, offset, size) {
    return put(this, value, offset, size, true, true, true);
  },
  writeIntBE(value, offset, size) {
    return put(this, value, offset, size, false, true, true);
  },
  writeBigUInt64LE(value, offset = 0) {
    return putBig(this, value, offset, true, 0n, 0xffffffffffffffffn);
  },
  writeBigUInt64BE(value, offset = 0) {
    return putBig(this, value, offset, false, 0n, 0xffffffffffffffffn);
  },
  writeBigInt64LE(value, offset = 0) {
    return putBig(this, value, offset, true, -0x8000000000000000n, 0x7fffffffffffffffn);
  },
  writeBigInt64BE(value, offset = 0) {
    return putBig(this, value, offset, false, -0x8000000000000000n, 0x7fffffffffffffffn);
  },
};

for (const [name, size, little] of [
  ["8", 1, true],
  ["16LE", 2, true],
  ["16BE", 2, false],
  ["32LE", 4, true],
  ["32BE", 4, false],
]) {
  for (const kind of ["UInt", "Int"]) {
    const method = `write${kind}${name}`;
    methods[method] = {
      [method](value, offset = 0) {
        return put(this, value, offset, size, little, kind === "Int", false);
      },
    }[method];
  }
}

function needSize(size) {
  if (typeof size !== "number") throw invalidType("byteLength", "number", size);
  if (!Number.isInteger(size)) throw outOfRange("byteLength", "an integer", size);
  if (size < 1 || size > 6) throw outOfRange("byteLength", ">= 1 and <= 6", size);
}

function unsigned(buffer, offset, size, little) {
  if (offset === undefined) throw invalidType("offset", "number", offset);
  needSize(size);
  const o = at(buffer, offset, size);
  let value = 0;
  for (let i = 0; i < size; i++) value = value * 256 + buffer[little ? o + size - 1 - i : o + i];
  return value;
}

function signed(value, size) {
  return value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
}

function put(buffer, value, offset, size, little, sign, chosen) {
  value = +value;
  if (chosen) {
    if (offset === undefined) throw invalidType("offset", "number", offset);
    needSize(size);
  }
  const half = 2 ** (8 * size - 1);
  check(value, sign ? -half : 0, sign ? half - 1 : 2 * half - 1, size);
  const o = at(buffer, offset, size);
  let rest = Math.trunc(value) || 0;
  if (rest < 0) rest += 2 * half;
  for (let i = 0; i < size; i++) {
    buffer[little ? o + i : o + size - 1 - i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return o + size;
}

function putBig(buffer, value, offset, little, min, max) {
  if (typeof value !== "bigint") throw invalidType("value", "bigint", value);
  check(value, min, max, 8);
  const o = at(buffer, offset, 8);
  let rest = BigInt.asUintN(64, value);
  for (let i = 0; i < 8; i++, rest >>= 8n) buffer[little ? o + i : o + 7 - i] = Number(rest & 255n);
  return o + 8;
}

function float(buffer, offset, view, bytes, big) {
  const size = bytes.length,
    o = at(buffer, offset, size);
  for (let i = 0; i < size; i++) bytes[i] = buffer[big ? o + size - 1 - i : o + i];
  return view[0];
}

function putFloat(buffer, value, offset, view, bytes, big) {
  const size = bytes.length,
    o = at(buffer, offset, size);
  view[0] = value;
  for (let i = 0; i < size; i++) buffer[big ? o + size - 1 - i : o + i] = bytes[i];
  return o + size;
}

for (const name of Object.keys(methods)) {
  if (name.includes("UInt")) methods[name.replace("UInt", "Uint")] = methods[name];
}

export default methods;
