// The Worker for comparisons of engines: pages that need much JavaScript, and routes that need little.
import { Hono } from "hono";
import { marked } from "marked";
import { h } from "preact";
import { renderToString as renderPreact } from "preact-render-to-string";
import { createElement } from "react";
import { renderToString as renderReact } from "react-dom/server";
import { createSSRApp, h as hVue } from "vue";
import { renderToString as renderVue } from "vue/server-renderer";

const app = new Hono();
const rows = Array.from({ length: 1000 }, (_, at) => ({
  id: at,
  name: `row ${at}`,
  price: at / 4,
  tags: ["a", "b", `t${at % 7}`],
}));
const SELECT = "SELECT id, name, n FROM rows WHERE id = ?";
const text = Array.from(
  { length: 150 },
  (_, at) =>
    `## Part ${at}\n\nSome *words* of **part ${at}**, with \`code\`, [a link](https://site.example/${at}) and more of them than one line ` +
    `takes.\n\n- one\n- two\n  - ${at}\n\n| a | b |\n|---|---|\n| ${at} | x |\n\n\`\`\`js\nconst a = ${at};\n\`\`\`\n`,
).join("\n");

const wanted = (c) => Number(c.req.query("rows") ?? rows.length);

// table makes the same table by each library's function for elements.
const table = (make, row, count) =>
  make("table", { className: "rows" }, make("tbody", null, ...rows.slice(0, count).map((r) => row(r))));
const cells = (make) => (r) =>
  make(
    "tr",
    { key: r.id, title: r.name },
    make("td", null, r.name),
    make("td", { style: { color: r.id % 2 ? "red" : "blue" } }, r.price.toFixed(2)),
    make("td", null, ...r.tags.map((tag) => make("span", { key: tag, "data-tag": tag }, tag))),
  );
const ReactRow = ({ row }) => cells(createElement)(row);
const PreactRow = ({ row }) => cells(h)(row);
const VueRow = {
  props: ["row"],
  render() {
    return cells((name, of, ...inside) => hVue(name, of, inside))(this.row);
  },
};

app.get("/api/hello", (c) => c.json({ hello: "world", version: 0 }));
app.get("/api/react", (c) =>
  c.html(renderReact(table(createElement, (row) => createElement(ReactRow, { key: row.id, row }), wanted(c)))),
);
app.get("/api/preact", (c) => c.html(renderPreact(table(h, (row) => h(PreactRow, { key: row.id, row }), wanted(c)))));
app.get("/api/vue", async (c) =>
  c.html(
    await renderVue(
      createSSRApp({
        render: () =>
          table(
            (name, of, ...inside) => hVue(name, of, inside),
            (row) => hVue(VueRow, { key: row.id, row }),
            wanted(c),
          ),
      }),
    ),
  ),
);
app.get("/api/markdown", (c) => c.html(marked.parse(text)));

let count = 0;
app.get("/api/setup", async (c) => {
  const { DB, KV } = c.env;
  await DB.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n REAL NOT NULL)");
  const row = DB.prepare("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)");
  await DB.batch(rows.map((r) => row.bind(r.id + 1, r.name, r.price)));
  await KV.put("key", "a value of a hundred bytes, of the kind that a session or a flag has; ".padEnd(100, "."));
  return c.text("ready");
});
app.get("/api/select", async (c) =>
  c.json(
    await c.env.DB.prepare(SELECT)
      .bind((count++ % 1000) + 1)
      .first(),
  ),
);
app.get("/api/kv/get", async (c) => c.text(await c.env.KV.get("key")));

export default app;
