// The visitor's sign-in: in production a signed token of Cloudflare Access; on this machine, with
// PAGES_SIGN_IN "personas", one of a few invented people.
import config from "./config.js";
import { escapeHTML, json, page, refuse, seeOther, wantsJSON } from "./answers.js";
import { localTarget } from "./paths.js";

const COOKIE = "pages_session";
const DAY = 86_400;

/** The visitor: undefined when signed out, with "member" false for an outsider. */
export async function identify(request, env) {
  if (env.PAGES_ACCESS_TEAM && env.PAGES_ACCESS_AUD) {
    const token = request.headers.get("cf-access-jwt-assertion") ?? cookie(request, "CF_Authorization");
    return token && fromAccess(token, env);
  }
  if (env.PAGES_SIGN_IN !== "personas" || !env.PAGES_SESSION_KEY) return undefined;
  const value = cookie(request, COOKIE);
  return value && fromSession(value, env);
}

export async function signIn(request, url, env) {
  if (env.PAGES_ACCESS_TEAM && env.PAGES_ACCESS_AUD) {
    const next = localTarget(url.searchParams.get("next")) ?? "/";
    // Access asks for this address before the request comes here.
    return (await identify(request, env))
      ? seeOther(next)
      : refuse(request, 403, "sign_in_closed", "Cloudflare Access does not guard /__pages/sign-in");
  }
  if (env.PAGES_SIGN_IN !== "personas" || !env.PAGES_SESSION_KEY)
    return refuse(request, 403, "sign_in_closed", "this site has no sign-in");
  if (request.method === "GET" || request.method === "HEAD") return choice(200, url.searchParams.get("next") ?? "/");
  if (request.method !== "POST")
    return refuse(request, 405, "method_not_allowed", `this address does not take ${request.method} requests`, {
      allow: "GET, HEAD, POST",
    });
  const form = await request.formData().catch(() => new FormData());
  const persona = config.personas.find(
    (one) => one.key === form.get("persona") || (!form.get("persona") && one.email === form.get("email")),
  );
  if (!persona)
    return refuse(
      request,
      422,
      "persona_unknown",
      `there is no such persona; use one of ${config.personas.map((one) => `"${one.key}"`).join(", ")}`,
    );
  const { key, outsider, ...member } = persona;
  const session = await seal({ ...member, member: !outsider, until: Math.floor(Date.now() / 1000) + DAY }, env);
  const headers = {
    "set-cookie": `${COOKIE}=${session}; Path=/; Max-Age=${DAY}; HttpOnly; SameSite=Lax${url.protocol === "https:" ? "; Secure" : ""}`,
  };
  if (wantsJSON(request)) return json(200, { ok: true, member }, headers);
  return seeOther(localTarget(form.get("next") ?? "/") ?? "/", headers);
}

export async function signOut(request) {
  if (request.method !== "POST")
    return refuse(request, 405, "method_not_allowed", `this address does not take ${request.method} requests`, {
      allow: "POST",
    });
  const headers = { "set-cookie": `${COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax` };
  if (cookie(request, "CF_Authorization")) return seeOther("/cdn-cgi/access/logout", headers);
  if (wantsJSON(request)) return json(200, { ok: true, member: null }, headers);
  return seeOther(request.headers.get("sec-fetch-mode") === "navigate" ? "/__pages/signed-out" : "/", headers);
}

/**
 * A page after a sign-out, which a browser leaves at once. Chromium keeps the page before for the Back button, despite its no-store, and
 * only from then on: the request after it removes that.
 */
export function signedOut(request, url) {
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(request, 405, "method_not_allowed", `this address does not take ${request.method} requests`, {
      allow: "GET, HEAD",
    });
  if (url.searchParams.has("forget")) return seeOther("/", { "clear-site-data": '"cache"' });
  const onward = "/__pages/signed-out?forget=1";
  return page(200, "Signed out", `<p><a href="${onward}">Continue</a></p>`, { refresh: `0;url=${onward}` });
}

function choice(status, next) {
  const buttons = config.personas.map(
    (one) =>
      `<button name="persona" value="${escapeHTML(one.key)}">${escapeHTML(one.name)}, ${escapeHTML(one.key)}</button>`,
  );
  const target = `<input type="hidden" name="next" value="${escapeHTML(localTarget(next) ?? "/")}">`;
  // Without an action it goes to the address of the page with its fragment, which the redirect after it keeps.
  return page(status, "Sign in", `<form method="post">${target}${buttons.join(" ")}</form>`);
}

/** The value of a cookie; none when it came twice. */
function cookie(request, name) {
  const values = (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0].slice(name.length + 1) : undefined;
}

const base64url = {
  encode: (bytes) =>
    btoa(String.fromCharCode(...bytes))
      .replace(/\+/g, "-")
      .replace(/\//g, "_")
      .replace(/=+$/, ""),
  decode: (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0)),
};

const hmacKey = (env) =>
  crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(env.PAGES_SESSION_KEY),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );

async function seal(session, env) {
  const body = base64url.encode(new TextEncoder().encode(JSON.stringify(session)));
  const signature = await crypto.subtle.sign("HMAC", await hmacKey(env), new TextEncoder().encode(body));
  return `${body}.${base64url.encode(new Uint8Array(signature))}`;
}

async function fromSession(value, env) {
  try {
    const [body, signature] = value.split(".");
    const sound = await crypto.subtle.verify(
      "HMAC",
      await hmacKey(env),
      base64url.decode(signature),
      new TextEncoder().encode(body),
    );
    const session = sound && JSON.parse(new TextDecoder().decode(base64url.decode(body)));
    return session && session.until > Date.now() / 1000 ? session : undefined;
  } catch {
    return undefined; // the token is not ours
  }
}

const HOUR = 3_600_000;
let keys = { at: 0, list: [] };

/** Reads a token of Cloudflare Access: signed by the team, for this application, and not expired. */
async function fromAccess(token, env) {
  const [head, body, signature, more] = token.split(".");
  if (!signature || more !== undefined) return undefined;
  try {
    const { kid, alg } = JSON.parse(new TextDecoder().decode(base64url.decode(head)));
    const claims = JSON.parse(new TextDecoder().decode(base64url.decode(body)));
    const issuer = `https://${env.PAGES_ACCESS_TEAM}.cloudflareaccess.com`;
    const now = Date.now() / 1000;
    const audiences = [claims.aud].flat();
    if (
      alg !== "RS256" ||
      claims.iss !== issuer ||
      !audiences.includes(env.PAGES_ACCESS_AUD) ||
      !(claims.exp > now) ||
      claims.nbf > now + 60
    )
      return undefined;
    const jwk = await accessKey(issuer, kid);
    if (!jwk) return undefined;
    const key = await crypto.subtle.importKey("jwk", jwk, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, [
      "verify",
    ]);
    const sound = await crypto.subtle.verify(
      "RSASSA-PKCS1-v1_5",
      key,
      base64url.decode(signature),
      new TextEncoder().encode(`${head}.${body}`),
    );
    if (!sound || typeof claims.email !== "string") return undefined;
    return { id: `usr_${claims.sub}`, email: claims.email, name: claims.email.split("@")[0], member: true };
  } catch {
    return undefined; // it is not a token
  }
}

async function accessKey(issuer, kid) {
  const known = () => keys.list.find((key) => key.kid === kid);
  if (Date.now() - keys.at > HOUR || (!known() && Date.now() - keys.at > 10_000)) {
    const answer = await fetch(`${issuer}/cdn-cgi/access/certs`);
    if (answer.ok) keys = { at: Date.now(), list: (await answer.json()).keys ?? [] };
  }
  return known();
}
