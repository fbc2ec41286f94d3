import { Gunzip, gunzipSync, gzipSync, inflateSync, strFromU8, strToU8, unzlibSync, unzipSync, zipSync, zlibSync, deflateSync } from "fflate";

const through = async (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).bytes();

/** https://github.com/101arrowz/fflate#readme, and the same bytes through the platform's streams. */
export async function zip() {
  const text = "some text, ".repeat(5000), data = strToU8(text), out = {};
  for (const [format, pack, unpack] of [["gzip", gzipSync, gunzipSync], ["deflate", zlibSync, unzlibSync], ["deflate-raw", deflateSync, inflateSync]]) {
    out[format] = strFromU8(unpack(await through(data, new CompressionStream(format)))) === text;
    out[`${format} back`] = strFromU8(await through(pack(data), new DecompressionStream(format))) === text;
  }
  const files = unzipSync(zipSync({ "a.txt": data, dir: { "b.txt": [strToU8("b"), { level: 0 }] } }));
  out.zip = `${Object.keys(files)} ${strFromU8(files["dir/b.txt"])}`;
  const pieces = [], stream = new Gunzip((piece) => pieces.push(piece.length)), packed = await through(data, new CompressionStream("gzip"));
  stream.push(packed.subarray(0, 20));
  stream.push(packed.subarray(20), true);
  out.streamed = pieces.reduce((a, b) => a + b, 0) === data.length;
  return out;
}
