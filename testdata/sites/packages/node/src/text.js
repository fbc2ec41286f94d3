import { parse } from "csv-parse/sync";
import dotenv from "dotenv";
import matter from "gray-matter";
import iconvLite from "iconv-lite";
import qs from "qs";
import { Buffer as Safe } from "safe-buffer";

/** https://github.com/pillarjs/iconv-lite#readme */
export function iconv() {
  const bytes = iconvLite.encode("Пример, €", "win1251");
  return { bytes: bytes.toString("hex"), text: iconvLite.decode(bytes, "win1251"), japanese: iconvLite.decode(Buffer.from([0x82, 0xb1, 0x82, 0xf1]), "Shift_JIS"), known: iconvLite.encodingExists("us-ascii") };
}

/** https://github.com/feross/safe-buffer#readme */
export function safe() { return { text: Safe.from("6869", "hex").toString(), zeros: [...Safe.alloc(2)], own: Safe === Buffer }; }

/** https://csv.js.org/parse/api/sync/ */
export function csv() { return { rows: parse('"key_1","key_2"\n"value 1","value 2"', { columns: true, skip_empty_lines: true }) }; }

/** https://github.com/ljharb/qs#readme */
export function query() { return { parsed: qs.parse("foo[bar]=baz&a[]=b&a[]=c"), text: qs.stringify({ a: { b: ["x", "y z"] } }) }; }

/** https://github.com/motdotla/dotenv#readme */
export function env() { return dotenv.parse(Buffer.from('BASIC=basic\nQUOTED="two\\nlines"\n# no\n')); }

/** https://github.com/jonschlinkert/gray-matter#readme */
export function frontMatter() {
  const file = matter("---\ntitle: Hello\ntags: [a, b]\n---\n<h1>Hello world!</h1>\n<!-- more -->\nrest", { excerpt: true, excerpt_separator: "<!-- more -->" });
  return { data: file.data, content: file.content, excerpt: file.excerpt, text: matter.stringify("body", { title: "x" }) };
}
