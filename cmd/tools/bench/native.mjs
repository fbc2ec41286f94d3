// Functions that are native on the platform, a megabyte of each, or as many calls as the
// name says. The Worker and the script for Node.js that the bench runs measure
// the same functions.
const MB = 1 << 20;
const ascii = "The quick brown fox jumps over the lazy dog. 0123456789 {}[]\n".repeat(Math.ceil(MB / 61)).slice(0, MB);
const wide = "Zażółć gęślą jaźń, 漢字かな交じり文 – naïve café\n".repeat(1 << 15).slice(0, MB / 2);
const latin = "na\u00efve caf\u00e9, \u00fcber stra\u00dfe\n".repeat(1 << 16).slice(0, MB);
const bytes = new TextEncoder().encode(ascii);
const wideBytes = new TextEncoder().encode(wide);
const base64 = btoa(ascii);
const urls = Array.from(
  { length: 1000 },
  (_, i) => `https://user${i}.example.com:8443/a/b${i}/../c?q=${i}&name=J%20D#part${i}`,
);

let keys;
async function made() {
  keys ??= (async () => {
    const { subtle } = crypto;
    const [hmac, rsa, ec] = await Promise.all([
      subtle.importKey("raw", bytes.slice(0, 32), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
      subtle.generateKey(
        { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
        false,
        ["sign", "verify"],
      ),
      subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]),
    ]);
    const aes = await subtle.importKey("raw", bytes.slice(0, 32), "AES-GCM", false, ["encrypt"]);
    return {
      hmac,
      rsa: rsa.privateKey,
      ec: ec.privateKey,
      aes,
      zipped: await through(bytes, new CompressionStream("gzip")),
    };
  })();
  return keys;
}

async function through(data, stream) {
  return new Uint8Array(await new Response(new Response(data).body.pipeThrough(stream)).arrayBuffer());
}

/** By name, [how often a run calls it, the function of the keys]. */
export const natives = {
  "SHA-256": [10, () => crypto.subtle.digest("SHA-256", bytes)],
  HMAC: [10, ({ hmac }) => crypto.subtle.sign("HMAC", hmac, bytes)],
  "AES-GCM": [10, ({ aes }) => crypto.subtle.encrypt({ name: "AES-GCM", iv: bytes.subarray(0, 12) }, aes, bytes)],
  gzip: [2, () => through(bytes, new CompressionStream("gzip"))],
  gunzip: [5, ({ zipped }) => through(zipped, new DecompressionStream("gzip"))],
  "TextEncoder, ASCII": [20, () => new TextEncoder().encode(ascii)],
  "TextEncoder, Latin-1": [20, () => new TextEncoder().encode(latin)],
  "TextEncoder, wide": [20, () => new TextEncoder().encode(wide)],
  "TextDecoder, ASCII": [20, () => new TextDecoder().decode(bytes)],
  "TextDecoder, wide": [20, () => new TextDecoder().decode(wideBytes)],
  btoa: [20, () => btoa(ascii)],
  atob: [20, () => atob(base64)],
  "1,000 URLs": [
    5,
    () => {
      for (const url of urls) new URL(url).hostname;
    },
  ],
  "structuredClone of bytes": [20, () => structuredClone(bytes)],
  "100 RSA signatures": [
    1,
    async ({ rsa }) => {
      for (let i = 0; i < 100; i++) await crypto.subtle.sign("RSASSA-PKCS1-v1_5", rsa, bytes.subarray(0, 64));
    },
  ],
  "100 ECDSA signatures": [
    1,
    async ({ ec }) => {
      for (let i = 0; i < 100; i++)
        await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ec, bytes.subarray(0, 64));
    },
  ],
};

/** Runs one of natives, or of another table, and returns how often. */
export async function run(all, name) {
  const given = await made();
  const [times, f] = all[name];
  for (let i = 0; i < times; i++) await f(given);
  return times;
}
