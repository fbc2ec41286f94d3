// JavaScript only: the engine's own speed.
const rows = Array.from({ length: 500 }, (_, i) => ({
  id: i,
  name: `name ${i}`,
  tags: ["a", "b", `c${i}`],
  nested: { at: i * 1.5, ok: i % 2 === 0 },
  text: "some words about it & more",
}));
const text = JSON.stringify(rows);
const patterns = Array.from({ length: 40 }, (_, i) => new RegExp(`^/section-${i}/([^/]+)/items/([0-9]+)$`));
const paths = Array.from({ length: 40 }, (_, i) => `/section-${i}/name/items/${i}`);
const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (s) => s.replace(/[&<>"]/g, (c) => entities[c]);
const numbers = Array.from({ length: 2000 }, (_, i) => (i * 7919) % 2003);

// FIPS 180-4, written as libraries do.
const rotate = (x, n) => (x >>> n) | (x << (32 - n));
const initial = new Uint32Array(8),
  k = new Uint32Array(64);
for (let n = 2, found = 0; found < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n; d++)
    if (n % d === 0) {
      prime = false;
      break;
    }
  if (!prime) continue;
  if (found < 8) initial[found] = (Math.sqrt(n) % 1) * 2 ** 32;
  k[found++] = (Math.cbrt(n) % 1) * 2 ** 32;
}
function sha256(data) {
  const words = new Uint32Array(64),
    state = initial.slice();
  const padded = new Uint8Array(((data.length + 72) >> 6) << 6);
  padded.set(data);
  padded[data.length] = 0x80;
  new DataView(padded.buffer).setUint32(padded.length - 4, data.length * 8);
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = words[i - 15],
        b = words[i - 2];
      words[i] =
        words[i - 16] +
        words[i - 7] +
        (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) +
        (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const t = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + words[i]) | 0;
      const u = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t) | 0;
      d = c;
      c = b;
      b = a;
      a = (t + u) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
  return state;
}

class Point {
  constructor(x) {
    this.x = x;
  }
  add(n) {
    return this.x + n;
  }
}
const latest = new Array(64).fill(null); // kept, so that they are really created: V8 creates no unused objects

const h = (tag, props, ...children) => ({ tag, props, children });
function render(node) {
  if (typeof node === "string") return escapeText(node);
  if (typeof node.tag === "function") return render(node.tag(node.props));
  const attributes = Object.entries(node.props ?? {})
    .map(([name, value]) => ` ${name}="${escapeText(String(value))}"`)
    .join("");
  return `<${node.tag}${attributes}>${node.children.flat().map(render).join("")}</${node.tag}>`;
}
const Row = ({ row }) =>
  h(
    "tr",
    { class: "row", id: `r${row.id}` },
    h("td", null, row.name),
    h("td", { title: row.text }, row.text),
    row.tags.map((tag) => h("b", null, tag)),
  );

/** By name, [how often a run calls it, the function]. */
export const pures = {
  "JSON.parse": [4, () => JSON.parse(text)],
  "JSON.stringify": [4, () => JSON.stringify(rows)],
  "routing by expressions": [
    10,
    () => {
      for (const path of paths) for (const pattern of patterns) if (pattern.test(path)) break;
    },
  ],
  "escaping of HTML": [
    2,
    () => {
      let out = "";
      for (let i = 0; i < 800; i++) out += `<li>${escapeText(`${rows[i % 500].text} <"x">`)}</li>`;
      return out.length;
    },
  ],
  "joining of arrays": [10, () => Array.from({ length: 2000 }, (_, i) => `item ${i}`).join(",")],
  "SHA-256 in JavaScript": [1, () => sha256(new Uint8Array(10240))],
  "rendering of 50 rows": [
    4,
    () =>
      render(
        h(
          "table",
          null,
          rows.slice(0, 50).map((row) => h(Row, { row })),
        ),
      ),
  ],
  sorting: [4, () => [...numbers].sort((a, b) => a - b)],
  Map: [
    4,
    () => {
      const m = new Map();
      for (let i = 0; i < 5000; i++) m.set(`k${i}`, i);
      let n = 0;
      for (let i = 0; i < 5000; i++) n += m.get(`k${i}`);
      return n;
    },
  ],
  "objects and methods": [
    1,
    () => {
      let n = 0;
      for (let i = 0; i < 50000; i++) n += (latest[i & 63] = new Point(i)).add(1);
      return n;
    },
  ],
  "filter, map, reduce": [
    10,
    () =>
      numbers
        .filter((n) => n % 2)
        .map((n) => n * 2)
        .reduce((a, b) => a + b, 0),
  ],
};
