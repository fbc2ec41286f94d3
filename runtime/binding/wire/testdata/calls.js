// A Worker that makes a table of calls on its bindings and responds with the result of each, as text. Text that differs from run to run is
// left out: versions, times, ids of uploads, durations.

const text = new TextEncoder();
const stream = (value) => new Response(value).body;
const pieces = (...list) =>
  new ReadableStream({
    start(c) {
      for (const one of list) c.enqueue(typeof one === "string" ? text.encode(one) : one);
      c.close();
    },
  });
const bytes = async (s) => (s === null ? null : [...new Uint8Array(await new Response(s).arrayBuffer())].slice(0, 40));
const shown = (value) =>
  JSON.stringify(value, (_, v) => {
    if (v instanceof ArrayBuffer) return { bytes: [...new Uint8Array(v)].slice(0, 40), length: v.byteLength };
    if (v instanceof Uint8Array) return { view: [...v] };
    if (v instanceof Map) return { map: [...v] };
    if (typeof v === "number" && !Number.isFinite(v)) return `${v}`;
    return v;
  });
const fault = (e) => `${e.name}: ${e.message}${e.cause ? ` [${e.cause.message}]` : ""}${e.code ? ` (${e.code})` : ""}`;
const sum = (r) => ({
  ...r,
  meta: { changes: r.meta.changes, id: r.meta.last_row_id, db: r.meta.changed_db, keys: Object.keys(r.meta) },
});
const told = (o) =>
  o && {
    key: o.key,
    size: o.size,
    etag: o.etag,
    httpEtag: o.httpEtag,
    http: o.httpMetadata,
    custom: o.customMetadata,
    range: o.range,
    sums: o.checksums.toJSON(),
    storageClass: o.storageClass,
    version: o.version?.length,
    uploaded: typeof o.uploaded?.getTime(),
    body: "body" in o,
  };
const told2 = async (o) => o && { ...told(o), text: "body" in o ? await o.text() : "none" };
const listed = (l) => ({
  keys: l.objects.map((o) => o.key),
  prefixes: l.delimitedPrefixes,
  truncated: l.truncated,
  more: typeof l.cursor,
});
const many = (n, of) => Array.from({ length: n }, (_, i) => of(i));

const kv = ({ KV }) => [
  ["get of nothing", () => KV.get("none")],
  ["get of nothing with metadata", () => KV.getWithMetadata("none")],
  ["put", () => KV.put("a", "value")],
  ["get", () => KV.get("a")],
  ["get json that is none", () => KV.get("a", "json")],
  ["put json", () => KV.put("json", '{"n":[1,2,{"x":null}]}')],
  ["get json", () => KV.get("json", { type: "json" })],
  ["get bytes", () => KV.get("a", "arrayBuffer")],
  ["get stream", () => KV.get("a", "stream").then(bytes)],
  ["put empty", () => KV.put("empty", "")],
  ["get empty", () => KV.get("empty")],
  ["get empty bytes", () => KV.get("empty", "arrayBuffer")],
  ["put bytes", () => KV.put("bytes", new Uint8Array([0, 255, 128, 10, 13, 0]))],
  ["get put bytes", () => KV.get("bytes", "arrayBuffer")],
  ["get bytes as text", () => KV.get("bytes")],
  ["put buffer", () => KV.put("buffer", new Uint8Array([1, 2]).buffer)],
  ["get buffer", () => KV.get("buffer", "arrayBuffer")],
  ["put stream", () => KV.put("stream", stream("from a stream"))],
  ["get what a stream put", () => KV.get("stream")],
  ["put pieces", () => KV.put("pieces", pieces("one ", "two ", "three"))],
  ["get pieces", () => KV.get("pieces")],
  ["put 300 KB", () => KV.put("large", "x".repeat(300_000))],
  ["get 300 KB", async () => (await KV.get("large")).length],
  ["put 2 MB", () => KV.put("larger", new Uint8Array(2_000_000).fill(7))],
  [
    "get 2 MB",
    async () => {
      const b = new Uint8Array(await KV.get("larger", "arrayBuffer"));
      return [b.length, b[0], b[1_999_999]];
    },
  ],
  ["get 2 MB as a stream", async () => (await new Response(await KV.get("larger", "stream")).arrayBuffer()).byteLength],
  ["put 3 MB in pieces", () => KV.put("many", pieces(...many(3, () => new Uint8Array(1_000_000).fill(1))))],
  ["get 3 MB", async () => (await KV.get("many", "arrayBuffer")).byteLength],
  ["put over the limit", () => KV.put("over", new Uint8Array(25 * 1024 * 1024 + 1))],
  ["get a value over the limit", () => KV.get("over")],
  ["put metadata", () => KV.put("meta", "m", { metadata: { a: 1, b: ["ü", "☃", "😀"], c: null, d: 'quote " and \\' } })],
  ["get metadata", () => KV.getWithMetadata("meta")],
  [
    "metadata is text",
    async () => {
      await KV.put("meta2", "m", { metadata: "line\nbreak" });
      return KV.getWithMetadata("meta2");
    },
  ],
  [
    "metadata is false",
    async () => {
      await KV.put("meta3", "m", { metadata: false });
      return KV.getWithMetadata("meta3");
    },
  ],
  [
    "metadata is null",
    async () => {
      await KV.put("meta4", "m", { metadata: null });
      return KV.getWithMetadata("meta4");
    },
  ],
  ["metadata is too long", () => KV.put("meta5", "m", { metadata: "x".repeat(1100) })],
  [
    "metadata of 1,024",
    async () => {
      await KV.put("meta6", "m", { metadata: "x".repeat(1022) });
      return (await KV.getWithMetadata("meta6")).metadata.length;
    },
  ],
  ["expiration in the past", () => KV.put("e", "x", { expiration: 1000 })],
  [
    "expiration soon",
    () => KV.put("e", "x", { expiration: Math.floor(Date.now() / 1000) + 30 }).catch((e) => e.message.replace(/\d{8,}/, "N")),
  ],
  ["ttl of 0", () => KV.put("e", "x", { expirationTtl: 0 })],
  ["ttl of -5", () => KV.put("e", "x", { expirationTtl: -5 })],
  ["ttl of 59", () => KV.put("e", "x", { expirationTtl: 59 })],
  ["ttl of 60", () => KV.put("e", "x", { expirationTtl: 60 })],
  ["expiration and ttl", () => KV.put("e2", "x", { expirationTtl: 3600, expiration: 1 })],
  ["get with expiration", () => KV.get("e")],
  ["cacheTtl of 10", () => KV.get("a", { cacheTtl: 10 })],
  ["cacheTtl of 30", () => KV.get("a", { cacheTtl: 30 })],
  ["empty key", () => KV.get("")],
  ["key .", () => KV.put(".", "x")],
  ["key ..", () => KV.delete("..")],
  [
    "key of 512",
    async () => {
      await KV.put("k".repeat(512), "x");
      return KV.get("k".repeat(512));
    },
  ],
  ["key of 513", () => KV.get("k".repeat(513))],
  ["key of 513 put", () => KV.put("k".repeat(513), "x")],
  [
    "key with everything",
    async () => {
      const k = "a/b c?d=e&f#g%h+i☃é\n\t\"'\\";
      await KV.put(k, "odd");
      return [await KV.get(k), (await KV.list({ prefix: "a/" })).keys];
    },
  ],
  [
    "key with NUL",
    async () => {
      await KV.put("n\0ul", "x");
      return KV.get("n\0ul");
    },
  ],
  ["key is a lone surrogate", () => KV.get("\ud800")],
  ["delete", () => KV.delete("a")],
  ["get a deleted key", () => KV.get("a")],
  ["delete of nothing", () => KV.delete("a")],
  ["list prefix", () => KV.list({ prefix: "meta" })],
  [
    "list pages",
    async () => {
      for (let i = 0; i < 7; i++) await KV.put(`page/${i}`, "x");
      const all = [];
      let cursor;
      do {
        const l = await KV.list({ prefix: "page/", limit: 3, cursor });
        all.push(l.keys.map((k) => k.name));
        cursor = l.cursor;
        if (l.list_complete) break;
      } while (cursor);
      return all;
    },
  ],
  ["list keys of an answer", async () => Object.keys(await KV.list({ prefix: "page/", limit: 2 }))],
  [
    "list of all keys",
    async () => {
      const l = await KV.list();
      return [l.keys.length > 20, l.list_complete, Object.keys(l)];
    },
  ],
  ["list of nothing", () => KV.list({ prefix: "zzz" })],
  ["list limit 1001", () => KV.list({ limit: 1001 })],
  ["list limit 0", async () => (await KV.list({ limit: 0, prefix: "page/" })).keys.length],
  ["list bad cursor", () => KV.list({ cursor: "!!" })],
  ["list prefix of 513", () => KV.list({ prefix: "k".repeat(513) })],
  ["get several", () => KV.get(["page/1", "none", "meta"])],
  ["get several with metadata", () => KV.getWithMetadata(["page/1", "none", "meta"])],
  ["get several json", () => KV.get(["json", "none"], "json")],
  ["get several that are not json", () => KV.get(["json", "meta"], "json")],
  ["get several bytes", () => KV.get(["json"], "arrayBuffer")],
  ["get none", () => KV.get([])],
  ["get 101", () => KV.get(many(101, (i) => `k${i}`))],
  ["get 100", async () => (await KV.get(many(100, (i) => `k${i}`))).size],
  ["get several, one empty", () => KV.get(["a", ""])],
  ["get several, one .", () => KV.get(["a", "."])],
  ["get several, one too long", () => KV.get(["a", "k".repeat(513)])],
  ["get several twice the same", () => KV.get(["json", "json"])],
  ["get several, cacheTtl 10", () => KV.get(["json"], { cacheTtl: 10 })],
  [
    "get several with odd values",
    async () => {
      await KV.put("odd", '"\\\u2028☃😀');
      return KV.get(["odd", "bytes", "empty"]);
    },
  ],
];

const d1 = ({ DB }) => {
  const q = (sql, ...v) => DB.prepare(sql).bind(...v);
  return [
    [
      "exec",
      async () => {
        const r = await DB.exec(
          "CREATE TABLE t (id INTEGER PRIMARY KEY, n, s TEXT)\nCREATE TABLE c (id INTEGER PRIMARY KEY, t REFERENCES t(id))",
        );
        return [r.count, typeof r.duration];
      },
    ],
    ["run", async () => sum(await q("INSERT INTO t (n, s) VALUES (?, ?)", 1, "one").run())],
    ["run with rows", async () => sum(await q("INSERT INTO t (n, s) VALUES (?, ?) RETURNING *", 2.5, "two").run())],
    ["all", async () => sum(await q("SELECT * FROM t").all())],
    ["all of nothing", async () => sum(await q("SELECT * FROM t WHERE id = 99").all())],
    ["first", () => q("SELECT * FROM t").first()],
    ["first column", () => q("SELECT * FROM t").first("s")],
    ["first of no column", () => q("SELECT * FROM t").first("none")],
    ["first of nothing", () => q("SELECT * FROM t WHERE 0").first()],
    ["first column of nothing", () => q("SELECT * FROM t WHERE 0").first("s")],
    ["raw", () => q("SELECT * FROM t").raw()],
    ["raw with names", () => q("SELECT * FROM t").raw({ columnNames: true })],
    ["raw of nothing with names", () => q("SELECT * FROM t WHERE 0").raw({ columnNames: true })],
    ["columns of one name", () => q("SELECT 1 AS a, 2 AS a").raw()],
    ["rows of one name", async () => (await q("SELECT 1 AS a, 2 AS a").all()).results],
    ["null, numbers and text", () => q("SELECT ?, ?, ?, ?, ?, ?", null, 0, -0, 1.5, 2 ** 53, "ü☃😀\0x").raw()],
    ["infinity", () => q("SELECT ?, typeof(?)", Infinity, Infinity).raw()],
    ["NaN", () => q("SELECT ?, typeof(?)", NaN, NaN).raw()],
    ["numbers are REAL", () => q("SELECT typeof(?), typeof(?)", 1, 1.5).raw()],
    ["true and false", () => q("SELECT ?, ?", true, false).raw()],
    ["bytes", () => q("SELECT ?, typeof(?), length(?)", new Uint8Array([0, 1, 255]), new Uint8Array([0, 1, 255]), [1, 2]).raw()],
    ["a buffer", () => q("SELECT ?", new Uint8Array([9, 8]).buffer).raw()],
    ["floats as bytes", () => q("SELECT ?", new Float64Array([1.9, 255, 256, -1])).raw()],
    ["an empty list", () => q("SELECT typeof(?), length(?)", [], []).raw()],
    ["undefined", () => q("SELECT ?", undefined).raw()],
    ["an object", () => q("SELECT ?", {}).raw()],
    ["a list of text", () => q("SELECT ?", ["a"]).raw()],
    ["a BigInt", () => q("SELECT ?", 1n).raw()],
    ["large integers", () => q("SELECT 9007199254740993, -9223372036854775808").raw()],
    ["floats of SQLite", () => q("SELECT 1e300 * 1e300, 0.1 + 0.2, -0.0, 1e21").raw()],
    ["a blob of SQLite", () => q("SELECT x'00ff10'").raw()],
    ["too few values", () => DB.prepare("SELECT ?, ?").bind(1).all()],
    ["too many values", () => DB.prepare("SELECT 1").bind(1).all()],
    ["no table", () => q("SELECT * FROM none").all()],
    ["no column", () => q("SELECT none FROM t").first()],
    ["syntax", () => q("SELEC 1").run()],
    ["no SQL", () => q("").run()],
    ["a comment", () => q("-- nothing").all()],
    ["several statements", async () => (await q("SELECT 1 AS a; SELECT 2 AS b").all()).results],
    ["a constraint", () => q("INSERT INTO t (id) VALUES (1)").run()],
    ["a foreign key", () => q("INSERT INTO c (t) VALUES (99)").run()],
    ["attach", () => q("ATTACH 'x' AS y").run()],
    ["begin", () => q("BEGIN").run()],
    ["read only", async () => (await DB.prepare("PRAGMA table_info(t)").all()).results.map((r) => r.name)],
    ["SQL is a number", () => DB.prepare(5).all()],
    ["SQL is undefined", () => DB.prepare(undefined).all()],
    [
      "batch",
      async () =>
        (await DB.batch([q("INSERT INTO t (n) VALUES (3)"), q("SELECT count(*) AS n FROM t"), q("SELECT ? AS a", [1])])).map(sum),
    ],
    ["batch that fails", () => DB.batch([q("INSERT INTO t (n) VALUES (4)"), q("INSERT INTO t (id) VALUES (1)")])],
    ["batch left nothing", () => q("SELECT count(*) AS n FROM t").first("n")],
    ["batch of none", () => DB.batch([])],
    ["exec of two", async () => (await DB.exec("SELECT 1\nSELECT 2")).count],
    ["exec with blank lines", async () => (await DB.exec("\nSELECT 1\n\n-- comment\nSELECT 2\n")).count],
    ["exec that fails at once", () => DB.exec("SELECT * FROM none")],
    ["exec that fails later", () => DB.exec("SELECT 1\nSELECT * FROM none")],
    ["exec of nothing", () => DB.exec("")],
    [
      "session",
      async () => {
        const s = DB.withSession();
        const before = s.getBookmark();
        const r = await s.prepare("SELECT count(*) AS n FROM t").all();
        return [before, r.results, typeof s.getBookmark(), s.getBookmark().length];
      },
    ],
    [
      "session grows",
      async () => {
        const s = DB.withSession("first-primary");
        await s.prepare("SELECT 1").run();
        const one = s.getBookmark();
        await s.batch([s.prepare("SELECT 1")]);
        return [one < s.getBookmark(), one.split("-").map((p) => p.length)];
      },
    ],
    [
      "session from a bookmark",
      async () => {
        const s = DB.withSession("ffffffff-ffffffff-00000000-0");
        await s.prepare("SELECT 1").first();
        return s.getBookmark();
      },
    ],
    ["session of no use", () => DB.withSession("first-unconstrained").getBookmark()],
    ["a row of 100 KB", async () => (await q("SELECT ? AS x", "y".repeat(100_000)).first("x")).length],
    [
      "2,000 rows",
      async () =>
        (
          await q(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, 'row ' || i AS t FROM n",
          ).all()
        ).results.length,
    ],
    ["a value over the limit", () => q("SELECT length(?)", "z".repeat(3_000_000)).first()],
    [
      "upsert",
      async () =>
        sum(await q("INSERT INTO t (id, n) VALUES (1, 9) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING n").all()),
    ],
    ["update", async () => sum(await q("UPDATE t SET s = 'x' WHERE id < 3").run())],
    ["delete", async () => sum(await q("DELETE FROM t WHERE id = 2").run())],
    ["names with quotes", () => q('SELECT 1 AS "a""b", 2 AS "☃"').first()],
    ["numbered values", () => q("SELECT ?2, ?1", "a", "b").raw()],
  ];
};

const r2 = ({ BUCKET: B }) => {
  const part = "p".repeat(5 << 20);
  return [
    ["head of nothing", () => B.head("none")],
    ["get of nothing", () => B.get("none")],
    ["put", async () => told(await B.put("a", "hello world"))],
    ["head", async () => told(await B.head("a"))],
    ["get", async () => told2(await B.get("a"))],
    ["get bytes", async () => (await B.get("a")).arrayBuffer()],
    ["get stream", async () => bytes((await B.get("a")).body)],
    [
      "get json",
      async () => {
        await B.put("json", '{"a":1}');
        return (await B.get("json")).json();
      },
    ],
    ["put null", async () => told(await B.put("null", null))],
    ["get empty", async () => told2(await B.get("null"))],
    ["put bytes", async () => told(await B.put("bytes", new Uint8Array([0, 255])))],
    ["put a Blob", async () => told(await B.put("blob", new Blob(["ab", "c"])))],
    ["put a stream", async () => told(await B.put("stream", stream("streamed")))],
    ["put a stream of no length", () => B.put("pieces", pieces("a", "b"))],
    [
      "put a fixed stream",
      async () => {
        const f = new FixedLengthStream(6);
        const w = f.writable.getWriter();
        w.write(text.encode("abc"));
        w.write(text.encode("def"));
        w.close();
        return told(await B.put("fixed", f.readable));
      },
    ],
    [
      "put while a later get feeds it",
      async () => {
        const f = new FixedLengthStream(11);
        const p = B.put("copy", f.readable);
        const from = await B.get("a");
        await from.body.pipeTo(f.writable);
        return told(await p);
      },
    ],
    ["put 2 MB", async () => told(await B.put("large", new Uint8Array(2_000_000).fill(3)))],
    [
      "get 2 MB",
      async () => {
        const b = await (await B.get("large")).bytes();
        return [b.length, b[0], b[1_999_999]];
      },
    ],
    [
      "put with metadata",
      async () =>
        told(
          await B.put("meta", "m", {
            httpMetadata: {
              contentType: "text/plain; charset=utf-8",
              contentLanguage: "de",
              contentDisposition: "inline",
              contentEncoding: "gzip",
              cacheControl: "no-store",
              cacheExpiry: new Date(86_400_000),
            },
            customMetadata: { b: "1", a: "ü☃😀", empty: "" },
          }),
        ),
    ],
    ["head with metadata", async () => told(await B.head("meta"))],
    [
      "write metadata",
      async () => {
        const h = new Headers();
        (await B.head("meta")).writeHttpMetadata(h);
        return [...h];
      },
    ],
    [
      "metadata from headers",
      async () =>
        told(
          await B.put("headers", "m", {
            httpMetadata: new Headers({ "content-type": "a/b", "cache-control": "x", expires: "Thu, 01 Jan 2026 00:00:00 GMT" }),
          }),
        ),
    ],
    ["too much metadata", () => B.put("much", "m", { customMetadata: { a: "x".repeat(9000) } })],
    ["infrequent access", async () => told(await B.put("cold", "m", { storageClass: "InfrequentAccess" }))],
    ["no such class", () => B.put("cold", "m", { storageClass: "Warm" })],
    ["md5", async () => told(await B.put("a", "hello world", { md5: "5eb63bbbe01eeed093cb22bb8f5acdc3" }))],
    ["wrong md5", () => B.put("a", "hello world", { md5: "00000000000000000000000000000000" })],
    ["sha1", async () => told(await B.put("a", "hello world", { sha1: "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed" }))],
    [
      "sha256",
      async () =>
        told(await B.put("sha", "hello world", { sha256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9" })),
    ],
    ["wrong sha512", () => B.put("sha", "x", { sha512: "00".repeat(64) })],
    ["two sums", () => B.put("sha", "x", { md5: "00".repeat(16), sha1: "00".repeat(20) })],
    ["range", async () => told2(await B.get("a", { range: { offset: 2, length: 3 } }))],
    ["range from", async () => told2(await B.get("a", { range: { offset: 6 } }))],
    ["range to", async () => told2(await B.get("a", { range: { length: 4 } }))],
    ["range suffix", async () => told2(await B.get("a", { range: { suffix: 5 } }))],
    ["range too long", async () => told2(await B.get("a", { range: { offset: 6, length: 100 } }))],
    ["range beyond", () => B.get("a", { range: { offset: 100 } })],
    ["range of suffix 0", () => B.get("a", { range: { suffix: 0 } })],
    ["range header", async () => told2(await B.get("a", { range: new Headers({ range: "bytes=0-4" }) }))],
    ["range header suffix", async () => told2(await B.get("a", { range: new Headers({ range: "bytes=-5" }) }))],
    ["range header that is none", async () => told2(await B.get("a", { range: new Headers({ range: "lines=1" }) }))],
    ["if etag matches", async () => told2(await B.get("a", { onlyIf: { etagMatches: "5eb63bbbe01eeed093cb22bb8f5acdc3" } }))],
    ["if etag matches not", async () => told2(await B.get("a", { onlyIf: { etagMatches: "x" } }))],
    ["if etag differs", async () => told2(await B.get("a", { onlyIf: { etagDoesNotMatch: "x" } }))],
    [
      "if etag differs not",
      async () => told2(await B.get("a", { onlyIf: { etagDoesNotMatch: "5eb63bbbe01eeed093cb22bb8f5acdc3" } })),
    ],
    ["if etag in quotes", () => B.get("a", { onlyIf: { etagMatches: '"x"' } })],
    ["if etag is *", async () => told2(await B.get("a", { onlyIf: { etagMatches: "*" } }))],
    ["if uploaded before", async () => told2(await B.get("a", { onlyIf: { uploadedBefore: new Date(1000) } }))],
    ["if uploaded after", async () => told2(await B.get("a", { onlyIf: { uploadedAfter: new Date(1000) } }))],
    [
      "if-none-match",
      async () =>
        told2(await B.get("a", { onlyIf: new Headers({ "if-none-match": 'W/"5eb63bbbe01eeed093cb22bb8f5acdc3", "y"' }) })),
    ],
    [
      "if-match of several",
      async () => told2(await B.get("a", { onlyIf: new Headers({ "if-match": '"y", "5eb63bbbe01eeed093cb22bb8f5acdc3"' }) })),
    ],
    [
      "if-match weak",
      async () => told2(await B.get("a", { onlyIf: new Headers({ "if-match": 'W/"5eb63bbbe01eeed093cb22bb8f5acdc3"' }) })),
    ],
    ["if-match unquoted", () => B.get("a", { onlyIf: new Headers({ "if-match": "W/x" }) })],
    [
      "if-modified-since",
      async () => told2(await B.get("a", { onlyIf: new Headers({ "if-modified-since": "Thu, 01 Jan 1970 00:00:09 GMT" }) })),
    ],
    ["put if it is new", async () => told(await B.put("a", "x", { onlyIf: { etagDoesNotMatch: "*" } }))],
    ["put if it is there", async () => told(await B.put("nowhere", "x", { onlyIf: { etagMatches: "*" } }))],
    [
      "put if etag matches",
      async () => told(await B.put("a", "hello again", { onlyIf: { etagMatches: "5eb63bbbe01eeed093cb22bb8f5acdc3" } })),
    ],
    ["empty key", () => B.put("", "x")],
    ["key of 1,024", async () => told(await B.put("k".repeat(1024), "x"))],
    ["key of 1,025", () => B.get("k".repeat(1025))],
    [
      "key with everything",
      async () => {
        const k = 'ü/☃ ?&#%\n"\\😀';
        await B.put(k, "odd");
        return told2(await B.get(k));
      },
    ],
    ["ssec", () => B.get("a", { ssecKey: "ab".repeat(32) })],
    ["delete", () => B.delete("sha")],
    ["get a deleted object", () => B.get("sha")],
    [
      "delete several",
      async () => {
        await B.delete(["json", "none", "null"]);
        return B.head("json");
      },
    ],
    ["delete 1,001", () => B.delete(many(1001, (i) => `k${i}`))],
    ["list", async () => listed(await B.list())],
    ["list prefix", async () => listed(await B.list({ prefix: "m" }))],
    [
      "list delimited",
      async () => {
        for (const k of ["d/1", "d/2/x", "d/2/y", "d/3", "e"]) await B.put(k, k);
        return listed(await B.list({ prefix: "d/", delimiter: "/" }));
      },
    ],
    [
      "list pages",
      async () => {
        const all = [];
        let cursor;
        do {
          const l = await B.list({ prefix: "d/", limit: 2, cursor });
          all.push(listed(l));
          cursor = l.truncated ? l.cursor : undefined;
        } while (cursor);
        return all;
      },
    ],
    ["list startAfter", async () => listed(await B.list({ prefix: "d/", startAfter: "d/2/x" }))],
    ["list limit 0", () => B.list({ limit: 0 })],
    ["list limit 1,001", () => B.list({ limit: 1001 })],
    ["list bad cursor", () => B.list({ cursor: "!!" })],
    ["list objects", async () => (await B.list({ prefix: "meta" })).objects.map(told)],
    [
      "list objects with all",
      async () => (await B.list({ prefix: "meta", include: ["httpMetadata", "customMetadata"] })).objects.map(told),
    ],
    ["list objects with one", async () => (await B.list({ prefix: "meta", include: ["customMetadata"] })).objects.map(told)],
    [
      "multipart",
      async () => {
        const up = await B.createMultipartUpload("parts", { httpMetadata: { contentType: "x/y" }, customMetadata: { m: "p" } });
        const one = await up.uploadPart(1, part),
          two = await B.resumeMultipartUpload("parts", up.uploadId).uploadPart(2, "the end");
        return [one.partNumber, two.etag.length > 10, told(await up.complete([one, two]))];
      },
    ],
    ["get of parts", async () => told2(await B.get("parts", { range: { offset: (5 << 20) - 3, length: 6 } }))],
    [
      "parts that are too small",
      async () => {
        const up = await B.createMultipartUpload("small");
        const a = await up.uploadPart(1, "a"),
          b = await up.uploadPart(2, "b");
        return up.complete([a, b]);
      },
    ],
    [
      "part that is not there",
      async () => {
        const up = await B.createMultipartUpload("lost");
        return up.complete([{ partNumber: 1, etag: "x" }]);
      },
    ],
    [
      "abort",
      async () => {
        const up = await B.createMultipartUpload("gone");
        await up.abort();
        return up.uploadPart(1, "x");
      },
    ],
    ["no such upload", () => B.resumeMultipartUpload("gone", "none").uploadPart(1, "x")],
    ["abort of no upload", () => B.resumeMultipartUpload("gone", "none").abort()],
    ["part number 0", () => B.resumeMultipartUpload("gone", "none").uploadPart(0, "x")],
    ["multipart with too much metadata", () => B.createMultipartUpload("much", { customMetadata: { a: "x".repeat(9000) } })],
  ];
};

const picture = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAAXklEQVR42hXLoQ2AMBhE4bPYWpKqWmzVJVgs9p+hA5zCskEHYIazLNGJoPbLew" +
      "CQAQIBCOiAgfHrb5kLmYKrWDo3sw7uM8tKVAlV6egKqw1d88xe6Ro+5dZ928/w+wE22B5JxGUlmAAAAABJRU5ErkJggg==",
  ),
  (c) => c.charCodeAt(0),
);
const images = ({ IMAGES: I }) => {
  const size = async (r) => I.info(r.image());
  return [
    ["info", () => I.info(stream(picture))],
    ["info base64", () => I.info(stream(btoa(String.fromCharCode(...picture))), { encoding: "base64" })],
    ["info of text", () => I.info(stream("no image"))],
    ["output", async () => size(await I.input(stream(picture)).output({ format: "image/png" }))],
    ["type", async () => (await I.input(stream(picture)).output({ format: "image/webp" })).contentType()],
    ["width", async () => size(await I.input(stream(picture)).transform({ width: 4 }).output({ format: "image/png" }))],
    [
      "rotated and fitted",
      async () =>
        size(
          await I.input(stream(picture))
            .transform({ rotate: 90 })
            .transform({ width: 3, height: 3, fit: "cover" })
            .output({ format: "image/jpeg", quality: 80 }),
        ),
    ],
    [
      "drawn",
      async () =>
        size(
          await I.input(stream(picture))
            .draw(I.input(stream(picture)).transform({ width: 2 }), { top: 1, left: 1, opacity: 0.5 })
            .output({ format: "image/png" }),
        ),
    ],
    [
      "drawn twice",
      async () =>
        bytes(
          (
            await I.input(stream(picture))
              .draw(I.input(stream(picture)).draw(stream(picture)).transform({ rotate: 180 }))
              .draw(stream(picture), { bottom: 0 })
              .output({ format: "image/png" })
          ).image(),
        ),
    ],
    [
      "bytes",
      async () => bytes((await I.input(stream(picture)).transform({ width: 2 }).output({ format: "image/png" })).image()),
    ],
    [
      "base64 out",
      async () =>
        (
          await new Response(
            (await I.input(stream(picture)).output({ format: "image/png" })).image({ encoding: "base64" }),
          ).text()
        ).slice(0, 16),
    ],
    [
      "response",
      async () => {
        const r = (await I.input(stream(picture)).output({ format: "image/png" })).response();
        return [r.headers.get("content-type"), r.status];
      },
    ],
    ["rotate 45", () => I.input(stream(picture)).transform({ rotate: 45 }).output({ format: "image/png" })],
    ["no fit", () => I.input(stream(picture)).transform({ fit: "tight" }).output({ format: "image/png" })],
    ["no format", () => I.input(stream(picture)).output({ format: "image/x" })],
    ["text in", () => I.input(stream("text")).output({ format: "image/png" })],
    ["text drawn", () => I.input(stream(picture)).draw(stream("text")).output({ format: "image/png" })],
    ["quality 0", () => I.input(stream(picture)).output({ format: "image/jpeg", quality: 0 })],
    [
      "used twice",
      async () => {
        const i = I.input(stream(picture));
        await i.output({ format: "image/png" });
        return i.output({ format: "image/png" });
      },
    ],
  ];
};

const files = ({ ASSETS: A, SECRET, OTHER }) => {
  const told = async (r) => [
    r.status,
    r.statusText,
    r.headers.get("content-type"),
    r.headers.get("etag"),
    r.headers.get("cf-cache-status"),
    r.headers.get("cache-control"),
    await r.text(),
  ];
  return [
    ["a file", async () => told(await A.fetch("https://site.example/style.css"))],
    ["query and host", async () => (await A.fetch("https://site.example:8443/echo?a=b%20c")).text()],
    ["http", async () => (await A.fetch("http://other.example/echo")).text()],
    ["headers", async () => (await A.fetch("https://site.example/headers", { headers: { "x-one": "1" } })).text()],
    ["HEAD", async () => told(await A.fetch("https://site.example/style.css", { method: "HEAD" }))],
    [
      "POST",
      async () => {
        const r = await A.fetch("https://site.example/style.css", { method: "POST", body: "x" });
        return [r.status, r.statusText, r.headers.get("allow"), await r.text()];
      },
    ],
    ["with credentials", async () => told(await A.fetch("https://site.example/style.css", { headers: { authorization: "x" } }))],
    ["nothing", async () => told(await A.fetch("https://site.example/none"))],
    [
      "followed",
      async () => {
        const r = await A.fetch("https://site.example/moved");
        return [r.redirected, r.url, r.status];
      },
    ],
    [
      "not followed",
      async () => {
        const r = await A.fetch("https://site.example/moved", { redirect: "manual" });
        return [r.status, r.headers.get("location")];
      },
    ],
    ["a large file", async () => (await (await A.fetch("https://site.example/large")).arrayBuffer()).byteLength],
    ["secrets", () => [SECRET, OTHER]],
  ];
};

const all = { kv, d1, r2, images, files };
export default {
  async fetch(request, env) {
    const kind = new URL(request.url).pathname.slice(1),
      found = [];
    for (const [name, call] of all[kind](env)) {
      try {
        found.push([`${kind}: ${name}`, shown(await call()) ?? "undefined"]);
      } catch (e) {
        found.push([`${kind}: ${name}`, fault(e)]);
      }
    }
    return Response.json(found);
  },
};
