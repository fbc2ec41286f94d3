import { parse as devalueParse, stringify as devalueStringify, uneval } from "devalue";
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import * as jsonc from "jsonc-parser";
import { deflate, gzip as pakoGzip, inflate, ungzip } from "pako";
import Papa from "papaparse";
import QRCode from "qrcode";
import * as TOML from "smol-toml";
import superjson from "superjson";
import YAML from "yaml";

/** https://eemeli.org/yaml/ */
export function yaml() {
  const text = "# file.yml\nYAML:\n  - A human-readable data serialization language\n  - https://en.wikipedia.org/wiki/YAML\nyaml: &lib\n  - { complete: yes, date: 2001-12-14 }\n  - A library for parsing\nboth: *lib\nlong: >-\n  folded\n  text\n";
  const doc = YAML.parseDocument(text);
  doc.setIn(["added", "by"], "code");
  return {
    value: YAML.parse(text),
    kept: doc.toString(),
    text: YAML.stringify([true, false, "maybe", null, { multi: "a\nb\n" }]),
    error: YAML.parseDocument("a: [1\nb: 2").errors.map((e) => e.message.split("\n")[0]),
  };
}

/** https://github.com/squirrelchat/smol-toml#readme */
export function toml() {
  const parsed = TOML.parse('title = "TOML"\nbig = 1_000\n[owner]\ndob = 1979-05-27T07:32:00-08:00\nday = 1979-05-27\n[[fruits]]\nname = "apple"\n');
  let error = "";
  try {
    TOML.parse("a = \nb = 1");
  } catch (e) {
    error = `${(e as TOML.TomlError).line}:${(e as TOML.TomlError).column}`;
  }
  return { parsed, text: TOML.stringify({ a: { b: [1.5, "x"], when: new Date(0) } }), error };
}

/** https://github.com/microsoft/node-jsonc-parser#readme */
export function jsonC() {
  const text = '{\n  // a comment\n  "a": [1, 2,],\n}';
  const errors: jsonc.ParseError[] = [];
  return {
    value: jsonc.parse(text, errors, { allowTrailingComma: true }), errors: errors.length,
    edited: jsonc.applyEdits(text, jsonc.modify(text, ["a", 1], "two", { formattingOptions: { insertSpaces: true, tabSize: 2 } })),
    at: jsonc.getLocation(text, 29).path,
  };
}

/** https://www.papaparse.com/docs */
export function csv() {
  const parsed = Papa.parse('name;n\n"Jane ""J"" Doe";1\nBob;2\n', { header: true, dynamicTyping: true, skipEmptyLines: true });
  return { data: parsed.data, delimiter: parsed.meta.delimiter, text: Papa.unparse([{ a: 1, b: "x,y" }, { a: 2, b: 'q"' }]), errors: Papa.parse('a,"b').errors.map((e) => e.code) };
}

/** https://github.com/NaturalIntelligence/fast-xml-parser#readme */
export function xml() {
  const options = { ignoreAttributes: false, attributeNamePrefix: "@" };
  const value = new XMLParser(options).parse('<?xml version="1.0"?><root a="nice"><b>1.0</b><b>two &amp; three</b><c><![CDATA[<raw>]]></c></root>');
  return { value, text: new XMLBuilder(options).build(value) };
}

const rich = { when: new Date(0), set: new Set([1, "two"]), map: new Map([["k", 10n]]), re: /a+/gi, none: undefined, nan: NaN, url: new URL("https://example.com/a?b") };

/** https://github.com/flightcontrolhq/superjson#readme */
export function superJson() {
  const text = superjson.stringify(rich);
  const back = superjson.parse<typeof rich>(text);
  return { text: JSON.parse(text), back: [back.when.getTime(), back.set.has("two"), back.map.get("k") === 10n, back.re.flags, "none" in back, back.url.search] };
}

/** https://github.com/sveltejs/devalue#readme */
export function devalue() {
  const cycle: Record<string, unknown> = { list: [, 1, -0], big: 10n ** 20n, bytes: new Uint8Array([1, 2, 3]) };
  cycle.self = cycle;
  const back = devalueParse(devalueStringify(cycle));
  let refused = "";
  try {
    devalueStringify({ deep: [() => 1] });
  } catch (error) {
    refused = `${(error as Error).message} ${(error as { path?: string }).path}`;
  }
  return { code: uneval({ a: "</script>", d: new Date(0), m: new Map([[1, new Set()]]) }), back: [back.self === back, 0 in back.list, Object.is(back.list[2], -0), `${back.big}`, back.bytes.length], refused };
}

/** https://github.com/nodeca/pako#readme */
export function pako() {
  const text = JSON.stringify({ my: "super", puper: [456, 567], awesome: "pako" }).repeat(50);
  const packed = deflate(text), zipped = pakoGzip(text, { level: 9 });
  let refused = "";
  try {
    inflate(new Uint8Array([1, 2, 3]));
  } catch (error) {
    refused = `${error}`;
  }
  return { packed: packed.length, head: [...packed.slice(0, 2)], zipped: [...zipped.slice(0, 3)], back: new TextDecoder().decode(inflate(packed)) === text, unzipped: new TextDecoder().decode(ungzip(zipped)) === text, refused };
}

/** https://github.com/soldair/node-qrcode#readme */
export async function qr() {
  const svg = await QRCode.toString("https://example.com", { type: "svg" });
  const code = QRCode.create("I am a pony!", { errorCorrectionLevel: "H" });
  return { svg: svg.length, start: svg.slice(0, 60), size: code.modules.size, dark: code.modules.data.reduce((sum: number, bit: number) => sum + bit, 0), text: (await QRCode.toString("x", { type: "utf8" })).split("\n").length };
}
