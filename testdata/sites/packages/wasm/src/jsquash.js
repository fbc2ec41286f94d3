import decodePNG, { init as initPNGDecoder } from "@jsquash/png/decode.js";
import encodePNG, { init as initPNGEncoder } from "@jsquash/png/encode.js";
import pngWasm from "@jsquash/png/codec/pkg/squoosh_png_bg.wasm";
import decodeWebP, { init as initWebPDecoder } from "@jsquash/webp/decode.js";
import encodeWebP, { init as initWebPEncoder } from "@jsquash/webp/encode.js";
import webpDecoder from "@jsquash/webp/codec/dec/webp_dec.wasm";
import webpEncoder from "@jsquash/webp/codec/enc/webp_enc_simd.wasm";

// The codecs answer with a class of browsers.
globalThis.ImageData ??= class ImageData {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height: height ?? data.length / 4 / width });
  }
};

// A bundle has no files beside it.
const located = { locateFile: (name) => name };

function picture(width, height) {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < data.length; at += 4) data.set([at % 251, (at >> 4) % 256, 128, 255], at);
  return new ImageData(data, width, height);
}

const same = (a, b) => a.width === b.width && a.height === b.height && a.data.every((x, at) => x === b.data[at]);

export async function png() {
  await initPNGEncoder(pngWasm);
  await initPNGDecoder(pngWasm);
  const before = picture(64, 48);
  const file = await encodePNG(before);
  return { head: [...new Uint8Array(file, 0, 4)].join(), same: same(before, await decodePNG(file)) };
}

export async function webp() {
  await initWebPEncoder(webpEncoder, located);
  await initWebPDecoder(webpDecoder, located);
  const before = picture(64, 48);
  const file = await encodeWebP(before, { lossless: 1, exact: 1, quality: 100 });
  return { head: new TextDecoder().decode(new Uint8Array(file, 8, 4)), same: same(before, await decodeWebP(file)) };
}
