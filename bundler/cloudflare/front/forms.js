// Form posts: each is a lead with its events, stored in PAGES_DB in one transaction before the response, and a row of
// the site's own table.
import config from "./config.js";
import { escapeHTML, json, page, refuse, seeOther, wantsJSON } from "./answers.js";
import { fromAnotherSite, localTarget, nextPage } from "./paths.js";
import { unaskedOf, writeRow } from "./rows.js";

const KIB = 1024;
const MOST = { text: 1024 * KIB, fields: 100, value: 64 * KIB, name: 16 * KIB, files: 5, file: 5120 * KIB, token: 200 };
// The platform's own fields, which no lead has. Nothing judges those of its spam filter here.
const CONTROL = ["form", "_next", "_token", "_stamp", "altcha", "_gotcha", "_honey", "bot-field"];

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function thanks() {
  const body = '<p>Your message has arrived.</p><p><a href="/">Back to the site</a></p>';
  return page(200, "Thank you", body, { "cross-origin-resource-policy": "cross-origin" });
}

/** The script that measures the time on a page for the platform's spam filter. Pages may load it, but this project has no filter. */
export function stampScript() {
  const headers = { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-store" };
  return new Response("// This site has no spam filter.\n", { headers });
}

const WORK = 1000;

/** A small challenge for the widget of npm's altcha, which holds a form back until it has one. Nothing checks the solution. */
export async function challenge() {
  const random = (length) => hex(crypto.getRandomValues(new Uint8Array(length)));
  const salt = random(12);
  const number = crypto.getRandomValues(new Uint32Array(1))[0] % (WORK + 1);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(salt + number));
  return json(200, {
    algorithm: "SHA-256",
    challenge: hex(new Uint8Array(digest)),
    maxnumber: WORK,
    salt,
    signature: random(32),
  });
}

const hex = (array) => [...array].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export async function takeForm(request, named, env, asJSON) {
  try {
    const { answers, control } = await read(request);
    const form = nameOf(named, control);
    const token = request.headers.get("idempotency-key") ?? control._token ?? "";
    if (bytes(token) > MOST.token)
      throw new Refusal(422, "form_token_invalid", "the idempotency key is longer than 200 bytes");
    const lead = await keep({ form, fields: together(answers), token }, env);
    if (asJSON || wantsJSON(request)) return json(201, { ok: true, lead });
    return seeOther(nextPage(control._next, request) ?? `/__pages/forms/thanks?form=${encodeURIComponent(form)}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse(request, error.status, error.code, error.message);
  }
}

const bytes = (text) => new TextEncoder().encode(text).length;

async function read(request) {
  const [kind, ...params] = (request.headers.get("content-type") ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = params
    .find((param) => param.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  const known = ["application/x-www-form-urlencoded", "multipart/form-data", "application/json"].includes(kind);
  if (!known || (charset && charset !== "utf-8")) {
    throw new Refusal(
      415,
      "form_type_unknown",
      "a form is sent as application/x-www-form-urlencoded, multipart/form-data or application/json, in UTF-8",
    );
  }
  const most = kind === "multipart/form-data" ? 2 * MOST.text + MOST.files * MOST.file : MOST.text;
  if (kind === "multipart/form-data" && !params.some((param) => param.startsWith("boundary=")))
    throw new Refusal(
      400,
      "form_malformed",
      "the Content-Type multipart/form-data names no boundary: do not set that header in a script, since the browser sets it with one",
    );
  const body = await readAll(request, most);
  /** @type {any} */
  const collected = { answers: [], control: {}, text: 0, files: 0 };
  if (kind === "application/json") fromJSON(collected, await body.text());
  else await fromForm(collected, body, request.headers.get("content-type"));
  if (collected.answers.length === 0 && collected.control.form === undefined) {
    throw new Refusal(422, "form_empty", "the form was sent without a single field");
  }
  return collected;
}

/** The body, up to the limit of its length. */
async function readAll(request, most) {
  const parts = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > most) throw new Refusal(413, "form_too_large", "the form holds more than 1 MiB of text");
    parts.push(part);
  }
  return new Blob(parts);
}

async function fromForm(into, body, type) {
  let form;
  try {
    form = await new Response(body, { headers: { "content-type": type } }).formData();
  } catch {
    throw new Refusal(400, "form_malformed", "the form data is malformed");
  }
  for (const [name, value] of form) {
    if (typeof value === "string") add(into, name, value, value);
    else if (value.size > 0 || value.name) await addFile(into, name, value);
  }
}

async function addFile(into, name, file) {
  if (++into.files > MOST.files) throw new Refusal(422, "too_many_files", "the form has more than 5 files");
  if (file.size > MOST.file) throw new Refusal(413, "file_too_large", "one file is larger than 5 MiB");
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  const sha256 = hex(new Uint8Array(digest));
  add(into, name, "", { filename: file.name.split(/[/\\]/).pop(), size: file.size, content_type: file.type, sha256 });
}

function fromJSON(into, text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    document = undefined;
  }
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new Refusal(400, "form_malformed", "the body is not a JSON object");
  for (const [name, value] of Object.entries(document))
    add(into, name, typeof value === "string" ? value : JSON.stringify(value), value);
}

function add(into, name, text, value) {
  into.text += bytes(name) + bytes(text);
  if (into.text > MOST.text) throw new Refusal(413, "form_too_large", "the form holds more than 1 MiB of text");
  if (bytes(name) > MOST.name)
    throw new Refusal(413, "field_name_too_long", "the name of one answer is longer than 16 KiB");
  if (bytes(text) > MOST.value) throw new Refusal(413, "field_too_large", "one answer is longer than 64 KiB");
  if (CONTROL.includes(name)) {
    if (name === "form" && into.control.form !== undefined && into.control.form !== value)
      throw new Refusal(422, "form_ambiguous", "the post names two forms");
    into.control[name] = String(value);
    return;
  }
  if (into.answers.length >= MOST.fields)
    throw new Refusal(422, "too_many_fields", "the form has more than 100 answers");
  into.answers.push([name, value]);
}

function nameOf(named, { form }) {
  const name = named || (form ?? "default");
  if (named && form !== undefined && form !== named)
    throw new Refusal(422, "form_ambiguous", "the post names two forms");
  if (!/^[a-z0-9_-]{1,64}$/.test(name))
    throw new Refusal(422, "form_name_invalid", 'a form\'s name is 1 to 64 lower-case letters, digits, "-" and "_"');
  return name;
}

/** Groups the answers by name: a name that occurs more than once gets a list. */
function together(answers) {
  const fields = Object.create(null);
  const counts = new Map();
  for (const [name, value] of answers) {
    const n = (counts.get(name) ?? 0) + 1;
    counts.set(name, n);
    if (n === 1) fields[name] = value;
    else if (n === 2) fields[name] = [fields[name], value];
    else fields[name].push(value);
  }
  return fields;
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const newID = (prefix) =>
  prefix + [...crypto.getRandomValues(new Uint8Array(26))].map((byte) => ALPHABET[byte & 31]).join("");

/** Stores a lead and its events. A repeated post with the same token returns the earlier lead. */
async function keep({ form, fields, token }, env) {
  const text = JSON.stringify(fields);
  const created = Date.now();
  const lead = {
    id: newID("lead_"),
    form,
    fields,
    created_at: new Date(created).toISOString(),
    preview: false,
    submission: { table: config.submissions, status: config.submissions ? "pending" : "none" },
    events: [
      "pages.lead.captured",
      ...config.forms
        .filter((one) => one.name === form)
        .slice(0, 1)
        .map((one) => one.event),
    ],
  };
  const db = env.PAGES_DB;
  const put = db
    .prepare(
      "INSERT INTO leads (id, form, fields, created_at, token, submission_table, submission_status) " +
        "VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?)",
    )
    .bind(lead.id, form, text, created, token, lead.submission.table, lead.submission.status);
  const raise = lead.events.map((name) =>
    db
      .prepare("INSERT INTO events (id, name, lead_id, created_at) VALUES (?, ?, ?, ?)")
      .bind(newID("evt_"), name, lead.id, created),
  );
  try {
    await db.batch([put, ...raise]);
  } catch (error) {
    const earlier =
      token && (await db.prepare("SELECT * FROM leads WHERE form = ? AND token = ?").bind(form, token).first());
    if (!earlier) throw error;
    if (earlier.fields !== text)
      throw new Refusal(
        409,
        "form_token_reused",
        "this form was already sent, with other answers: reload the page and send it again",
      );
    return {
      ...lead,
      id: earlier.id,
      created_at: new Date(earlier.created_at).toISOString(),
      submission: { table: earlier.submission_table, status: earlier.submission_status },
    };
  }
  if (config.submissions) await submit(lead, text, env);
  return lead;
}

/** Copies a lead into the site's own table, and notes how that went: the lead is safe in any case. */
async function submit(lead, text, env) {
  const asked = Object.hasOwn(config.asked, lead.form) ? config.asked[lead.form] : undefined;
  const unasked = unaskedOf(
    lead.fields,
    asked,
    config.forms.some((one) => one.name === lead.form),
  );
  if (unasked.length > 0) lead.unasked = unasked;
  try {
    await writeRow(env.DB, config.submissions, lead, text, {
      unasked,
      unseen: !asked,
    });
    lead.submission.status = "written";
  } catch (error) {
    lead.submission.status = "failed";
    lead.submission.error = error.message;
    console.warn(`submission row of ${lead.id} not written: ${error.message}`);
  }
  await env.PAGES_DB.prepare("UPDATE leads SET submission_status = ?, submission_error = ? WHERE id = ?")
    .bind(lead.submission.status, lead.submission.error ?? "", lead.id)
    .run();
}

const KEPT = 256 * KIB;

/** Whether a browser sends the form and shows the response. */
export function sendsForm(request) {
  const type = (request.headers.get("content-type") ?? "").toLowerCase();
  if (
    request.method !== "POST" ||
    !/^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/.test(type)
  )
    return false;
  const mode = request.headers.get("sec-fetch-mode");
  return mode ? mode === "navigate" : (request.headers.get("accept") ?? "").includes("text/html");
}

/** A form for members from a visitor who is signed out: a page keeps the answers, to be sent again after signing in. */
export async function keepForm(request, url) {
  const before = URL.parse(request.headers.get("referer") ?? "");
  const next = (before?.host === url.host && localTarget(before.pathname + before.search)) || "/";
  const link = `<p><a href="/__pages/sign-in?next=${encodeURIComponent(next)}" target="_blank" rel="noopener">Sign in</a></p>`;
  const says = request.headers.has("origin") || request.headers.has("sec-fetch-site");
  const action = says && !fromAnotherSite(request) && localTarget(url.pathname + url.search);
  const again = action && (await sendAgain(request, action));
  const why = again
    ? "This page keeps what you typed. Open the sign-in page in a new tab, come back here, and send it again."
    : "This page cannot keep it: sign in, and fill in the form again.";
  return page(
    401,
    "Sign in to send this",
    `<p>You are signed out, so the form was not sent. ${why}</p>${link}${again || ""}`,
    {
      "www-authenticate": "Pages-Session",
    },
  );
}

/** The form with its answers; undefined for a body that is too long or not a form. The visitor has to choose files again. */
async function sendAgain(request, action) {
  const type = request.headers.get("content-type") ?? "";
  if (type.startsWith("text/plain")) return undefined;
  let answers;
  try {
    const body = await readAll(request, 2 * MOST.text + MOST.files * MOST.file);
    answers = [
      ...(await new Response(body, {
        headers: { "content-type": type },
      }).formData()),
    ];
  } catch {
    return undefined;
  }
  const texts = answers.filter(([, value]) => typeof value === "string");
  const length = texts.reduce((sum, [name, value]) => sum + bytes(name) + bytes(value), 0);
  if (length > KEPT || answers.length > MOST.fields) return undefined;
  const inputs = answers.map(([name, value]) => {
    const called = `name="${escapeHTML(name)}"`;
    if (typeof value === "string") return `<input type="hidden" ${called} value="${escapeHTML(value)}">`;
    if (!value.name && value.size === 0) return "";
    return `<p><label>The file ${escapeHTML(value.name)} is not kept: choose it again <input type="file" ${called}></label></p>`;
  });
  const kind = type.split(";")[0].trim();
  const attributes = `method="post" action="${escapeHTML(action)}" enctype="${escapeHTML(kind)}"`;
  return `<form ${attributes}>${inputs.join("")}<button>Send again</button></form>`;
}

/** The headers that let a script of another origin read the response; undefined if it may not, and none for other senders. */
export function originHeaders(request, path) {
  const base = { "cross-origin-resource-policy": "cross-origin" };
  if (!fromAnotherSite(request)) return base;
  const mode = request.headers.get("sec-fetch-mode");
  const byScript = mode ? mode === "cors" : !(request.headers.get("accept") ?? "").includes("text/html");
  if (!byScript && !isPreflight(request)) return base;
  const rule = config.origins[path.replace(/\/$/, "")];
  if (!rule || (rule.origin !== "*" && rule.origin !== request.headers.get("origin"))) return undefined;
  const own = rule.credentials && rule.origin !== "*" ? { "access-control-allow-credentials": "true" } : {};
  return {
    ...base,
    ...own,
    vary: "Origin",
    "access-control-allow-origin": rule.origin,
  };
}

export const isPreflight = (request) =>
  request.method === "OPTIONS" && request.headers.has("origin") && request.headers.has("access-control-request-method");

/** Responds to a script of another origin before and after it sends a form. */
export async function takeForeign(request, path, take) {
  const headers = originHeaders(request, path);
  if (!headers) {
    const from = request.headers.get("origin") ?? "another site";
    const message = `the form was not stored: a script of a page at ${from} sent it, and could not read the response`;
    console.warn(`${request.method} ${path} was refused: ${message}; allow the origin for this address in _headers`);
    return refuse(request, 403, "foreign_origin", message, { vary: "Origin" }, true);
  }
  if (isPreflight(request)) {
    return new Response(null, {
      status: 204,
      headers: {
        ...headers,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "Accept, Content-Type, Idempotency-Key, X-Requested-With",
        "access-control-max-age": "600",
      },
    });
  }
  const answer = await take("access-control-allow-origin" in headers);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return answer;
}
