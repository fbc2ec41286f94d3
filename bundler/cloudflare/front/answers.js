// The front door's own answers.

const OWN = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export const wantsJSON = (request) => (request.headers.get("accept") ?? "").includes("application/json");

export function json(status, document, headers = {}) {
  return new Response(`${JSON.stringify(document)}\n`, {
    status,
    headers: { ...OWN, "content-type": "application/json; charset=utf-8", ...headers },
  });
}

export function seeOther(location, headers = {}) {
  return new Response(null, { status: 303, headers: { ...OWN, location, ...headers } });
}

/** A small page of the platform's. */
export function page(status, title, body, headers = {}) {
  const style =
    "body{max-width:36rem;margin:4rem auto;padding:0 1rem;font:1.05rem/1.6 system-ui,sans-serif;color-scheme:light dark}" +
    "button,input{font:inherit;padding:.4rem .8rem}";
  const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';
  const head = `<meta charset="utf-8">${viewport}<title>${escapeHTML(title)}</title><style>${style}</style>`;
  const text = `<!doctype html><html lang="en">${head}<main><h1>${escapeHTML(title)}</h1>${body}</main></html>`;
  return new Response(text, { status, headers: { ...OWN, "content-type": "text/html; charset=utf-8", ...headers } });
}

export function escapeHTML(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** A refusal, as JSON for programs and as a page for people. */
export function refuse(request, status, code, message, headers = {}, asJSON = false) {
  const forPeople = (request.headers.get("accept") ?? "").includes("text/html") && !asJSON;
  const answer = forPeople
    ? page(status, `${status}`, `<p>${escapeHTML(message[0].toUpperCase() + message.slice(1))}.</p>`, headers)
    : json(status, { ok: false, error: { code, message } }, headers);
  return request.method === "HEAD" ? new Response(null, answer) : answer;
}
