// The dashboard of the dev server. It reads JSON and server-sent events of its
// own origin and puts everything on the page as text, never as HTML.
"use strict";

const MOST_ROWS = 300;
const MOST_ITEMS = 100; // leads, and events
/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
let records = [];
let paused = false;

// The keyboard can scroll regions that may be wider than the screen.
function scrolled(element, label) {
  element.tabIndex = 0;
  element.setAttribute("aria-label", label);
  return element;
}

function el(name, className, ...content) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...content.filter((c) => c !== null && c !== undefined));
  return node;
}

async function read(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// arrange puts nodes into a parent, in order. Nodes that it has already are not moved, so that they keep
// their focus and stay open.
function arrange(parent, nodes) {
  const kept = new Set(nodes);
  for (const node of [...parent.children]) if (!kept.has(node)) node.remove();
  nodes.forEach((node, i) => {
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null);
  });
}

const byID = (parent) => new Map([...parent.children].map((node) => [node.dataset.id, node]));

// oneAtATime runs work once more after the present run, for any number of calls in between: no older response
// comes after a newer one. The next call repeats work that failed.
function oneAtATime(work) {
  let running, next;
  return function again() {
    if (!running)
      return (running = work()
        .catch(() => {})
        .finally(() => {
          running = undefined;
        }));
    return (next ??= running.then(() => {
      next = undefined;
      return again();
    }));
  };
}

const clock = (at) => new Date(at).toLocaleTimeString([], { hour12: false });

// --- requests ---

function digits(ms) {
  return ms >= 10 ? ms.toFixed(0) : String(Number(ms.toFixed(2)));
}

function meter(used, limit, text) {
  const cell = el("td", "num", text);
  if (limit > 0 && used >= limit) cell.classList.add("over");
  else if (limit > 0 && used >= 0.8 * limit) cell.classList.add("near");
  if (limit > 0) cell.title = `limit ${limit}`;
  return cell;
}

function requestRow(r) {
  const m = r.meter;
  const look = el("button", "link", el("span", "method", r.method), " ", r.path + (r.query ? `?${r.query}` : ""));
  look.type = "button";
  look.setAttribute("aria-expanded", "false");
  look.addEventListener("click", () => toggleRequest(look, r));
  const path = el("td", "path", look);
  if (r.error) path.append(el("span", "error", r.error));
  const by = el("td", "", r.source || "");
  if (r.member) by.title = r.member;
  if (r.route) path.title = `route ${r.route}`;
  const row = el(
    "tr",
    "",
    el("td", "time", clock(r.at)),
    path,
    el("td", `s${String(r.status)[0]}`, String(r.status)),
    el("td", "num", digits(r.ms)),
    m ? meter(m.cpu_ms, m.cpu_limit_ms, digits(m.cpu_ms)) : el("td", "num"),
    m
      ? meter(
          m.subrequests,
          m.subrequest_limit,
          m.subrequest_limit > 0 ? `${m.subrequests}/${m.subrequest_limit}` : String(m.subrequests),
        )
      : el("td", "num"),
    by,
  );
  row.dataset.id = r.id;
  return row;
}

function matches(r) {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text =
    `${r.method} ${r.path}?${r.query || ""} ${r.status} ${r.source} ${r.route || ""} ${r.member || ""} ${r.error || ""}`.toLowerCase();
  return words.every((w) => text.includes(w));
}

function drawRequests() {
  const rows = $("requests-rows");
  const had = byID(rows);
  arrange(
    rows,
    records
      .filter(matches)
      .slice(0, MOST_ROWS)
      .flatMap((r) => {
        const row = had.get(r.id) || requestRow(r);
        const more = row.nextElementSibling; // its log, if that is open
        return more?.classList.contains("more") ? [row, more] : [row];
      }),
  );
  countRequests();
}

function countRequests() {
  $("requests-count").textContent = records.length ? `${records.length}` : "";
  $("requests-empty").hidden = records.length > 0;
}

function onRequest(r) {
  records.unshift(r);
  records.length = Math.min(records.length, MOST_ROWS);
  if (paused) return;
  countRequests();
  if (!matches(r)) return;
  const row = requestRow(r);
  row.classList.add("new");
  const rows = $("requests-rows");
  rows.prepend(row);
  while (rows.childElementCount > MOST_ROWS) rows.lastElementChild.remove();
}

// --- leads and events ---

const isFile = (v) => v && typeof v === "object" && typeof v.filename === "string" && typeof v.sha256 === "string";

function valueText(v) {
  if (typeof v === "string") return v;
  if (Array.isArray(v)) return v.map(valueText).join(", ");
  if (isFile(v)) return `${v.filename || "(no name)"} (${v.size} bytes)`;
  return JSON.stringify(v);
}

// fieldValue returns the nodes for the value of a field; a file is a link to its bytes.
function fieldValue(v, lead) {
  if (Array.isArray(v) && v.some(isFile)) return v.flatMap((one, i) => [i ? ", " : "", fieldValue(one, lead)]);
  if (!isFile(v)) return [valueText(v)];
  const link = el("a", "", valueText(v));
  link.href = `/__pages/api/leads/${encodeURIComponent(lead)}/files/${encodeURIComponent(v.sha256)}`;
  link.download = v.filename;
  return [link];
}

function fieldList(fields, lead) {
  const list = el("dl", "");
  for (const [name, value] of Object.entries(fields || {}))
    list.append(el("dt", "", name), el("dd", "", ...fieldValue(value, lead).flat()));
  return list;
}

function drawList(kind, items, total, contents) {
  const list = $(`${kind}-list`);
  const had = byID(list);
  arrange(
    list,
    items.map((item) => {
      const details = had.get(item.id) || el("details", "");
      const text = JSON.stringify(item);
      if (details.shows !== text) redraw(details, contents(item));
      details.shows = text;
      details.dataset.id = item.id;
      return details;
    }),
  );
  $(`${kind}-count`).textContent = total ? String(total) : "";
  $(`${kind}-empty`).hidden = total > 0;
}

// redraw shows other contents, and gives the focus to the element in its old place.
function redraw(details, contents) {
  const reached = () => [...details.querySelectorAll("summary, a, button")];
  const at = reached().indexOf(document.activeElement);
  details.replaceChildren(...contents);
  reached()[at]?.focus({ preventScroll: true });
}

function leadContents(lead) {
  const s = lead.submission || {};
  const summary = el(
    "summary",
    "",
    el("strong", "", lead.form || "(no form)"),
    el(
      "span",
      "",
      Object.values(lead.fields || {})
        .map(valueText)
        .join(" · ")
        .slice(0, 90),
    ),
  );
  if (s.status && s.status !== "none") summary.append(el("span", `tag ${s.status}`, `${s.table}: ${s.status}`));
  if (s.status === "failed") summary.append(el("span", "error", s.error));
  if (lead.preview) summary.append(el("span", "tag", "preview"));
  summary.append(el("span", "time", clock(lead.created_at)));
  const list = fieldList(lead.fields, lead.id);
  list.append(
    el("dt", "", "id"),
    el("dd", "", lead.id),
    el("dt", "", "events"),
    el("dd", "", (lead.events || []).join(", ")),
  );
  if (s.error) list.append(el("dt", "", "row"), el("dd", "error", s.error));
  if (lead.unasked) list.append(el("dt", "", "in no column"), el("dd", "", lead.unasked.join(", ")));
  for (const reason of lead.spam?.reasons || [])
    list.append(el("dt", "", `spam ${reason.points > 0 ? "+" : ""}${reason.points}`), el("dd", "", reason.message));
  return [summary, list, leadButtons(lead.id, Boolean(lead.spam))];
}

function eventContents(e) {
  const d = e.delivery;
  const summary = el(
    "summary",
    "",
    el("strong", "mono", e.name),
    el("span", "", e.form || ""),
    d ? el("span", `tag ${d.status}`, d.status) : null,
    el("span", "time", clock(e.created_at)),
  );
  const list = fieldList(e.fields, e.lead_id);
  list.append(el("dt", "", "id"), el("dd", "", e.id), el("dt", "", "lead"), el("dd", "", e.lead_id || ""));
  if (d)
    list.append(
      el("dt", "", "webhook"),
      el(
        "dd",
        d.error ? "error" : "",
        `${d.status}, ${d.attempts} attempts${d.error ? `: ${d.error}` : ""}${d.next_at ? `; next at ${clock(d.next_at)}` : ""}`,
      ),
    );
  return [summary, list, actionButtons(replay({ event: e.id }))];
}

function mailContents(m) {
  const list = el("dl", "", el("dt", "", "to"), el("dd", "", m.to));
  if (m.reply_to) list.append(el("dt", "", "reply to"), el("dd", "", m.reply_to));
  list.append(el("dt", "", "id"), el("dd", "", m.message_id));
  const summary = el("summary", "", el("strong", "", m.subject), el("span", "time", clock(m.at)));
  return [summary, list, el("pre", "", m.text)];
}

const refreshInbox = oneAtATime(async () => {
  const [leads, spam, events, state] = await Promise.all([
    read(`/__pages/api/leads?limit=${MOST_ITEMS}`),
    read(`/__pages/api/leads?spam=1&limit=${MOST_ITEMS}`),
    read(`/__pages/api/events?limit=${MOST_ITEMS}`),
    read("/__pages/api/state"),
  ]);
  drawList("leads", leads.leads, state.leads, leadContents);
  drawList("spam", spam.leads, state.spam, leadContents);
  $("spam").hidden = !state.spam;
  drawList("events", events.events, state.events, eventContents);
  const { mails } = await read("/__pages/api/mails");
  drawList("mails", mails, mails.length, mailContents);
});

// --- the site and its build ---

function drawState(s) {
  const info = s.info;
  document.title = `${s.ok ? "" : "✗ "}${info.name || "site"} · pages dev`;
  $("name").textContent = info.name || "pages dev";
  showStatus(s.ok ? "serving" : "build failed", s.ok ? "ok" : "bad");
  describe("build", [
    ["result", s.ok ? "good" : "failed"],
    ["number", `${s.build}`],
    ["took", `${digits(s.took_ms)} ms`],
    ["watching", `${s.watching} paths`],
    ["live reload", s.live_reload],
    ["open pages", `${s.pages}`],
    ["folder", info.dir],
    ["engine", info.engine],
  ]);
  $("routes").replaceChildren(
    ...info.routes.map((r) =>
      el(
        "tr",
        "",
        el("td", "path", r.pattern),
        el("td", "", el("span", `tag ${r.access}`, r.access)),
        el("td", "", r.target),
      ),
    ),
  );
  describe(
    "bindings",
    info.bindings.map((b) => [b.name, b.detail ? `${b.kind}: ${b.detail}` : b.kind]),
  );
  describe(
    "limits",
    info.limits.map((l) => [l.name, l.value]),
  );
  describe(
    "forms",
    info.forms.map((f) => [f.name, f.event]),
  );
  drawProblems(s);
}

function describe(id, pairs) {
  const kept = pairs.filter(([, value]) => value);
  $(id).replaceChildren(
    ...(kept.length
      ? kept.flatMap(([name, value]) => [el("dt", "", name), el("dd", "", value)])
      : [el("dt", "", "none")]),
  );
}

function drawProblems(s) {
  const box = $("problems");
  box.hidden = s.problems.length === 0;
  box.classList.toggle("warn", s.ok);
  box.replaceChildren(
    ...s.problems.map((p) => {
      const at = p.file ? p.file + (p.line ? `:${p.line}` : "") + (p.line && p.column ? `:${p.column}` : "") : "";
      const one = el(
        "article",
        "",
        el("h2", "", p.title || (s.ok ? "Warning" : "The site does not build")),
        el("p", "", p.message),
        el("p", "mono", at),
      );
      if (p.snippet)
        one.append(
          scrolled(
            el(
              "pre",
              "",
              ...p.snippet.map((l) => el("span", l.hit ? "hit" : "", `${String(l.number).padStart(4)} │ ${l.text}\n`)),
            ),
            "The lines around it",
          ),
        );
      if (p.fix) one.append(el("p", "", el("strong", "", "Fix: "), p.fix));
      for (const note of p.notes || []) one.append(el("p", "note", note));
      return one;
    }),
  );
}

function showStatus(text, kind) {
  if ($("status").textContent === text) return;
  $("status").textContent = text;
  $("status").className = `pill ${kind}`;
}

// --- who is signed in ---

function postButton(action, label, fields, pressed) {
  const form = el("form", "");
  form.method = "post";
  form.action = action;
  for (const [name, value] of Object.entries({ ...fields, next: "/__pages/" })) {
    const input = el("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  }
  const button = el("button", "", label);
  if (pressed !== undefined) button.setAttribute("aria-pressed", String(pressed));
  form.append(button);
  return form;
}

// biome-ignore lint/correctness/noUnusedVariables: read by tools.js
let persona = ""; // key of who is signed in, when it is a persona

async function refreshMember() {
  const s = await read("/__pages/api/state");
  const me = s.member;
  persona = (s.personas || []).find((p) => p.email === me?.email)?.key || "";
  $("member").textContent = me ? `${me.name || me.email} (${me.email})` : "signed out";
  const buttons = (s.personas || []).map((p) =>
    postButton("/__pages/sign-in", p.key, { persona: p.key }, me ? p.email === me.email : false),
  );
  if (me) buttons.push(postButton("/__pages/sign-out", "Sign out", {}));
  $("personas").replaceChildren(...buttons);
}

// --- wiring ---

$("filter").addEventListener("input", drawRequests);
$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  if (!paused) drawRequests();
});
addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || /** @type {Element} */ (e.target).closest("input, textarea, select"))
    return;
  e.preventDefault();
  $("filter").focus();
});

// A browser opens few connections to one host. A hidden dashboard closes its connection, and reads everything again when it is visible.
let streams = [];

function open(path, handlers) {
  const source = new EventSource(path);
  for (const [name, handle] of Object.entries(handlers)) source.addEventListener(name, handle);
  source.addEventListener("error", () => {
    showStatus("not reachable", "bad");
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
  return source;
}

function follow() {
  for (const source of streams.splice(0)) source.close();
  if (document.hidden) return;
  streams = [
    open("/__pages/api/dev/stream", { state: (e) => drawState(JSON.parse(e.data)) }),
    open("/__pages/api/events/stream", {
      open: refresh,
      request: (e) => onRequest(JSON.parse(e.data)),
      event: refreshInbox,
      delivery: refreshInbox,
      spam: refreshInbox,
    }),
  ];
}

async function refresh() {
  await Promise.allSettled([
    refreshInbox(),
    refreshMember(),
    read("/__pages/api/requests").then((doc) => {
      records = (doc.requests || []).slice(0, MOST_ROWS);
      drawRequests();
    }),
  ]);
}

document.addEventListener("visibilitychange", follow);
addEventListener("pagehide", () => {
  for (const source of streams.splice(0)) source.close();
});
addEventListener("pageshow", (e) => e.persisted && follow());
follow();
