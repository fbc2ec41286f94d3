// The tools of the dashboard: they ask the dev server to run its commands, with the token of this run, and put every response on the page
// as text.
"use strict";

const TOKEN = document.querySelector('meta[name="pages-token"]').getAttribute("content");
const API = "/__pages/api/";

// An integer that would not fit a JavaScript number stays unchanged.
const parse = (text) =>
  JSON.parse(text, (_, value, /** @type {any} */ context = undefined) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? context.source
      : value,
  );

// ask returns the document of a response, even of a refusal.
async function ask(method, path, body, type) {
  const headers = { Accept: "application/json", Authorization: `Bearer ${TOKEN}` };
  if (type) headers["Content-Type"] = type;
  const answer = await fetch(API + path, { method, headers, body, cache: "no-store" });
  const text = await answer.text();
  const doc = text ? parse(text) : {};
  if (answer.ok) return doc;
  const wrong = new Error(
    doc.error?.message ||
      doc.message ||
      (doc.diagnostics || []).map((d) => `${d.line}:${d.column}: ${d.message}`).join("\n") ||
      `status ${answer.status}`,
  );
  throw Object.assign(wrong, { doc });
}

const post = (path, doc) => ask("POST", path, JSON.stringify(doc), "application/json");
const query = (of) => new URLSearchParams(of).toString();

// attempt shows an error in place of the result.
async function attempt(where, work) {
  try {
    await work();
  } catch (wrong) {
    where.replaceChildren(el("p", "error", wrong.message));
  }
}

function button(label, className, act) {
  const b = el("button", className, label);
  b.type = "button";
  b.addEventListener("click", act);
  return b;
}

const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// whenOpen loads a tool when it is first opened.
function whenOpen(id, load) {
  const tool = $(id);
  tool.addEventListener("toggle", () => {
    if (tool.open && !tool.dataset.loaded) {
      tool.dataset.loaded = "yes";
      load();
    }
  });
}

// A link to a tool opens it.
function openTarget() {
  const tool = location.hash.length > 1 && $(location.hash.slice(1));
  if (tool instanceof HTMLDetailsElement) {
    tool.open = true;
    tool.querySelector("summary").focus({ preventScroll: true });
  }
}

// --- requests: their log lines, and replay ---

// biome-ignore lint/correctness/noUnusedVariables: called by dashboard.js
async function toggleRequest(look, r) {
  const row = look.closest("tr");
  const open = look.getAttribute("aria-expanded") !== "true";
  look.setAttribute("aria-expanded", String(open));
  if (!open) return row.nextElementSibling?.classList.contains("more") ? row.nextElementSibling.remove() : undefined;
  const cell = el("td", "", "…");
  cell.colSpan = 7;
  row.after(el("tr", "more", cell));
  await attempt(cell, async () => {
    const { requests } = await ask("GET", `trace?${query({ request: r.id })}`);
    const logged = requests.find((q) => q.id === r.id);
    const f = r.failure;
    const lines = (logged?.logs || []).map(
      (l) => `${l.level}: ${l.text}${l.at ? `  (${l.at})` : ""}${(l.stack || []).map((s) => `\n    ${s}`).join("")}`,
    );
    if (f?.file) lines.unshift(`${f.name ? `${f.name}: ` : ""}${f.message}  (${f.file}:${f.line}:${f.column})`);
    const facts = [
      ["id", r.id],
      ["route", r.route],
      ["member", r.member],
      ["bytes", String(r.bytes)],
      ["isolate", r.meter?.isolate],
      ["trace", r.trace_id],
    ];
    const list = el(
      "dl",
      "",
      ...facts.filter(([, v]) => v).flatMap(([k, v]) => [el("dt", "", k), el("dd", "", String(v))]),
    );
    const pre = lines.length
      ? scrolled(el("pre", "", ...lines.map((l) => el("span", "", `${l}\n`))), "Log")
      : el("p", "note", "Nothing was logged.");
    cell.replaceChildren(
      list,
      ...steps(logged?.trace, r.ms),
      pre,
      button("Replay", "", () => replayRequest(r)),
    );
  });
}

// steps returns the nodes for the trace of a request: a line for each step, with a bar that shows when it ran.
function steps(trace, ms) {
  if (!trace) return [];
  const total = Math.max(ms, ...trace.spans.map((s) => s.start_ms + s.ms)) || 1;
  const children = Map.groupBy(trace.spans, (s) => s.parent_span_id);
  const lines = [];
  const add = (of, depth) => {
    for (const s of children.get(of) || []) {
      lines.push(stepLine(s, depth, total));
      add(s.span_id, depth + 1);
    }
  };
  add(trace.span_id, 0);
  const list = el("ol", "steps", ...lines);
  list.setAttribute("aria-label", "Steps of the request");
  const notes = (trace.hints || []).map((h) =>
    el("p", "hint", el("strong", "", `Hint: ${h.message}. `), h.fix, el("code", "", h.text)),
  );
  if (trace.dropped_spans) notes.push(el("p", "note", `And ${trace.dropped_spans} more: the log keeps the first 256.`));
  if (trace.unassigned_calls)
    notes.push(
      el(
        "p",
        "note",
        `${trace.unassigned_calls} calls of bindings ran beside other requests: workerd does not say of which request.`,
      ),
    );
  return [list, ...notes];
}

function stepLine(s, depth, total) {
  const bar = el("span", s.error ? "bar failed" : "bar");
  const from = Math.min((s.start_ms / total) * 100, 99);
  bar.style.marginLeft = `${from}%`;
  bar.style.width = `${Math.min(Math.max((s.ms / total) * 100, 1), 100 - from)}%`;
  const text = el("span", "step mono", el("span", "method", s.name), " ", stepText(s.attributes));
  text.style.paddingLeft = `${depth}rem`;
  if (s.error) text.append(el("span", "error", s.error));
  const time = `${digits(s.ms)} ms${s.unfinished ? ", goes on" : ""}`;
  const facts = [["starts after", `${digits(s.start_ms)} ms`], ...Object.entries(s.attributes)];
  const more = el("dl", "", ...facts.flatMap(([k, v]) => [el("dt", "", k), el("dd", "", String(v))]));
  return el(
    "li",
    "",
    el("details", "", el("summary", "", text, el("span", "time", time), el("span", "track", bar)), more),
  );
}

// stepText describes a step, as pages logs --trace does.
function stepText(a) {
  const named = [
    "cloudflare.kv.query.keys",
    "cloudflare.kv.query.prefix",
    "cloudflare.r2.request.key",
    "cloudflare.r2.request.prefix",
  ];
  const about =
    a["db.query.text"] ||
    (a["url.full"] && `${a["http.request.method"]} ${a["url.full"].replace(/^[a-z]+:\/\//, "")}`) ||
    a["db.collection.name"] ||
    named.map((key) => a[key]).find(Boolean) ||
    "";
  const read = a["cloudflare.d1.response.rows_read"];
  const written = a["cloudflare.d1.response.rows_written"];
  const after = [
    a["http.response.status_code"],
    a["db.operation.batch.size"] && `${a["db.operation.batch.size"]} statements`,
    read !== undefined && `${many(read, "row")} read`,
    written > 0 && `${written} written`,
  ];
  const found = after.filter(Boolean).join(", ");
  return [about.slice(0, 300), found].filter(Boolean).join(" · ");
}

function replayRequest(r) {
  $("send").open = true;
  $("send-method").value = r.method;
  $("send-path").value = r.path + (r.query ? `?${r.query}` : "");
  methodChanged();
  $("send").scrollIntoView();
  const hidden = (r.query || "").includes("******");
  if (!hidden && (r.method === "GET" || r.method === "HEAD")) sendRequest();
  else $(hidden ? "send-path" : "send-body").focus();
}

function methodChanged() {
  $("send-with").hidden = ["GET", "HEAD", "OPTIONS"].includes($("send-method").value);
}

async function sendRequest() {
  const where = $("send-answer");
  await attempt(where, async () => {
    const method = $("send-method").value;
    /** @type {RequestInit} */
    const options = { method, cache: "no-store", redirect: "manual" };
    if (!$("send-with").hidden)
      Object.assign(options, { headers: { "Content-Type": $("send-type").value }, body: $("send-body").value });
    const began = performance.now();
    const answer = await fetch($("send-path").value, options);
    const text = (await answer.text()).slice(0, 200_000);
    const status = answer.type === "opaqueredirect" ? "a redirect" : `${answer.status} ${answer.statusText}`;
    const head = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    where.replaceChildren(
      el("p", "", el("strong", "mono", status), ` in ${digits(performance.now() - began)} ms`),
      scrolled(el("pre", "answer", head, "\n\n", text), "Response"),
    );
  });
}

async function explainRoute() {
  const where = $("send-answer");
  await attempt(where, async () => {
    const doc = await ask(
      "GET",
      `explain?${query({ method: $("send-method").value, path: $("send-path").value, as: persona })}`,
    );
    const facts = ["path", "pattern", "access", "gate", "answer", "file", "location", "status"].filter((k) => doc[k]);
    where.replaceChildren(
      el("p", "note", `As ${persona || "a signed-out visitor"}:`),
      el("dl", "", ...facts.flatMap((k) => [el("dt", "", k), el("dd", "", String(doc[k]))])),
      el("ul", "", ...(doc.why || []).map((w) => el("li", "", w))),
    );
  });
}

$("send-form").addEventListener("submit", (e) => {
  e.preventDefault();
  sendRequest();
});
$("send-explain").addEventListener("click", explainRoute);
$("send-method").addEventListener("change", methodChanged);

// --- leads and events: their actions ---

const replay = (what) => ["Replay", "replay", what, "in the queue"];

/** Buttons in a row, and the result of the last: each is a label, an address, a body to send there and a note for success. */
function actionButtons(...actions) {
  const said = el("span", "note");
  said.setAttribute("role", "status");
  const buttons = actions.map(([label, path, what, done]) =>
    button(label, "", () =>
      attempt(said, async () => {
        await post(path, what);
        said.textContent = done;
        refreshInbox();
      }),
    ),
  );
  return el("div", "buttons", ...buttons, said);
}

// biome-ignore lint/correctness/noUnusedVariables: called by dashboard.js
function leadButtons(lead, isSpam) {
  if (isSpam) return actionButtons(["Not spam", "mark", { lead, spam: false }, "a lead"]);
  return actionButtons(replay({ lead }), ["Spam", "mark", { lead, spam: true }, "kept apart"]);
}

// --- database ---

function cellOf(value) {
  if (value === null) return el("td", "null", "NULL");
  if (typeof value === "object") return el("td", "", `blob, ${atob(value.blob).length} bytes`);
  return el("td", typeof value === "number" ? "num" : "", String(value));
}

async function runSQL(verb) {
  const where = $("db-answer");
  const sql = $("db-sql").value;
  if (!sql.trim()) return;
  await attempt(where, async () => {
    const doc = await post(`db/${verb}`, { sql, project: $("db-which").value === "project" });
    if (verb === "exec") {
      where.replaceChildren(
        el("p", "", `Ran ${many(doc.statements, "statement")}, wrote ${many(doc.changes, "row")}.`),
      );
      return listTables();
    }
    const shown = doc.rows.slice(0, 1000);
    const table = el(
      "table",
      "",
      el(
        "thead",
        "",
        el(
          "tr",
          "",
          ...doc.columns.map((c) => {
            const th = el("th", "", c);
            th.scope = "col";
            return th;
          }),
        ),
      ),
      el("tbody", "", ...shown.map((row) => el("tr", "", ...row.map(cellOf)))),
    );
    const box = el("div", "answer", table);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Rows");
    where.replaceChildren(
      el(
        "p",
        "note",
        `${many(doc.rows.length, "row")}${shown.length < doc.rows.length ? `, the first ${shown.length} of which are shown` : ""}`,
      ),
      box,
    );
  });
}

async function listTables() {
  const where = $("db-tables");
  await attempt(where, async () => {
    const sql =
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') " +
      "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    const doc = await post("db/query", { sql, project: $("db-which").value === "project" });
    where.replaceChildren(
      ...doc.rows.map(([name]) =>
        button(name, "", () => {
          $("db-sql").value = `SELECT * FROM "${name.replaceAll('"', '""')}" LIMIT 100`;
          runSQL("query");
        }),
      ),
    );
  });
}

$("db-form").addEventListener("submit", (e) => {
  e.preventDefault();
  runSQL("query");
});
$("db-write").addEventListener("click", () => runSQL("exec"));
$("db-which").addEventListener("change", listTables);
$("db-sql").addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    runSQL("query");
  }
});
whenOpen("database", listTables);

// --- key-value ---

async function listKeys(cursor) {
  await attempt($("kv-said"), async () => {
    const doc = await ask("GET", `kv?${query({ prefix: $("kv-prefix").value, cursor: cursor || "" })}`);
    const items = doc.keys.map((k) =>
      el(
        "li",
        "",
        button(k.key, "link", () => showKey(k.key)),
      ),
    );
    if (cursor) $("kv-keys").append(...items);
    else $("kv-keys").replaceChildren(...items);
    $("kv-more").hidden = !doc.cursor;
    $("kv-more").onclick = () => listKeys(doc.cursor);
    if (!cursor) $("kv-said").textContent = doc.keys.length ? "" : "No keys.";
  });
}

async function showKey(key) {
  await attempt($("kv-said"), async () => {
    const doc = await ask("GET", `kv/value?${query({ key })}`);
    $("kv-key").value = key;
    $("kv-value").value = doc.text ?? "";
    $("kv-ttl").value = doc.expiration ? String(Math.max(60, doc.expiration - Math.floor(Date.now() / 1000))) : "";
    $("kv-download").href = `${API}kv/value?${query({ key, download: 1 })}`;
    $("kv-download").hidden = false;
    const hidden = doc.text === undefined ? ", which are not text, or too long to show" : "";
    const metadata = doc.metadata ? `, metadata ${JSON.stringify(doc.metadata)}` : "";
    $("kv-said").textContent = `${doc.size} bytes${hidden}${metadata}`;
  });
}

$("kv-form").addEventListener("submit", (e) => {
  e.preventDefault();
  listKeys();
});
$("kv-entry").addEventListener("submit", (e) => {
  e.preventDefault();
  attempt($("kv-said"), async () => {
    const file = $("kv-file").files[0];
    await ask(
      "PUT",
      `kv/value?${query({ key: $("kv-key").value, ttl: $("kv-ttl").value })}`,
      file || $("kv-value").value,
    );
    $("kv-file").value = "";
    await listKeys();
    $("kv-said").textContent = "Put.";
  });
});
$("kv-delete").addEventListener("click", () =>
  attempt($("kv-said"), async () => {
    const key = $("kv-key").value;
    if (!key || !confirm(`Delete the key ${key}?`)) return;
    await ask("DELETE", `kv/value?${query({ key })}`);
    $("kv-entry").reset();
    $("kv-download").hidden = true;
    await listKeys();
    $("kv-said").textContent = "Deleted.";
  }),
);
whenOpen("kv", () => listKeys());

// --- storage ---

function objectRow(o) {
  const href = `${API}storage/object?${query({ key: o.key })}`;
  const link = el("a", "mono", o.key);
  link.href = `${href}&download=1`;
  const key = el("td", "path", link);
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(o.httpMetadata?.contentType || "")) {
    const image = el("img", "preview");
    Object.assign(image, { src: href, alt: "", loading: "lazy" });
    key.prepend(image);
  }
  const remove = button("Delete", "risky", () =>
    attempt($("storage-said"), async () => {
      if (!confirm(`Delete the object ${o.key}?`)) return;
      await ask("DELETE", `storage/object?${query({ key: o.key })}`);
      await listObjects();
    }),
  );
  remove.setAttribute("aria-label", `Delete ${o.key}`);
  return el(
    "tr",
    "",
    key,
    el("td", "", o.httpMetadata?.contentType || ""),
    el("td", "num", String(o.size)),
    el("td", "time", new Date(o.uploaded).toLocaleString()),
    el("td", "", remove),
  );
}

function folderRow(prefix) {
  const go = button(prefix, "link", () => {
    $("storage-prefix").value = prefix;
    listObjects();
  });
  const cell = el("td", "path", go);
  cell.colSpan = 5;
  return el("tr", "", cell);
}

async function listObjects(cursor) {
  await attempt($("storage-said"), async () => {
    const doc = await ask("GET", `storage?${query({ prefix: $("storage-prefix").value, cursor: cursor || "" })}`);
    const rows = [...doc.delimitedPrefixes.map(folderRow), ...doc.objects.map(objectRow)];
    if (cursor) $("storage-rows").append(...rows);
    else $("storage-rows").replaceChildren(...rows);
    $("storage-more").hidden = !doc.truncated;
    $("storage-more").onclick = () => listObjects(doc.cursor);
    if (!cursor) $("storage-said").textContent = rows.length ? "" : "Nothing here.";
  });
}

$("storage-form").addEventListener("submit", (e) => {
  e.preventDefault();
  listObjects();
});
$("storage-files").addEventListener("change", () =>
  attempt($("storage-said"), async () => {
    const files = [...$("storage-files").files];
    for (const [i, file] of files.entries()) {
      $("storage-said").textContent = `${i + 1} of ${files.length}: ${file.name}`;
      await ask(
        "PUT",
        `storage/object?${query({ key: $("storage-prefix").value + file.name })}`,
        file,
        file.type || "application/octet-stream",
      );
    }
    $("storage-files").value = "";
    await listObjects();
  }),
);
whenOpen("storage", () => listObjects());

// --- migrations ---

async function listMigrations() {
  const said = $("migrations-said");
  await attempt(said, async () => {
    const doc = await ask("GET", "migrations");
    const row = (name, state, at) =>
      el(
        "tr",
        "",
        el("td", "path", name),
        el("td", "", el("span", `tag ${state}`, state)),
        el("td", "time", at ? new Date(at).toLocaleString() : ""),
      );
    const nameOf = (m) => (typeof m === "string" ? m : m.name);
    const others = ["pending", "edited", "missing"].flatMap((state) =>
      (doc[state] || []).map((m) => row(nameOf(m), state)),
    );
    $("migrations-rows").replaceChildren(...doc.applied.map((m) => row(m.name, "applied", m.applied_at)), ...others);
    said.textContent = others.length ? "" : "Every migration is applied.";
  });
}

$("migrations-plan").addEventListener("click", () =>
  attempt($("migrations-said"), async () => {
    const doc = await ask("GET", "migrations/plan");
    $("migrations-answer").hidden = false;
    $("migrations-answer").textContent = doc.pending.length ? JSON.stringify(doc, null, 2) : "Nothing is pending.";
  }),
);
whenOpen("migrations", listMigrations);

addEventListener("hashchange", openTarget);
openTarget();
