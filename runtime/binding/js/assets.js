// The site's static files, asked as by a browser but within this process.
import { host } from "../../web/js/host.js";
import { streamOf } from "./body.js";

const REDIRECTS = [301, 302, 303, 307, 308];
const EMPTY = [204, 205, 304];

export class Assets {
  #id;
  constructor(id) { this.#id = id; }

  async fetch(input, init) {
    const request = new Request(input, init);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { allow: "GET, HEAD" } });
    }
    const { redirect } = request; // "manual" of a visitor's own: their browser follows
    const headers = [...request.headers].flat();
    let url = request.url;
    for (let hops = 0; hops <= 20; hops++) {
      request.signal.throwIfAborted();
      const answer = await host.assets_fetch(this.#id, request.method, url, headers);
      const response = responseOf(answer, request.method);
      const location = REDIRECTS.includes(response.status) && redirect !== "manual" ? response.headers.get("location") : null;
      if (location === null) return response;
      if (redirect === "error") throw new TypeError("ASSETS.fetch: there was a redirect and the request's redirect mode is \"error\"");
      await response.body?.cancel();
      url = new URL(location, url).href;
    }
    throw new TypeError("ASSETS.fetch: too many redirects");
  }
}

function responseOf({ status, headers, body }, method) {
  const list = new Headers();
  for (let i = 0; i < headers.length; i += 2) list.append(headers[i], headers[i + 1]);
  const none = method === "HEAD" || EMPTY.includes(status);
  if (none && typeof body === "number") host.binding_close(body);
  const length = list.has("content-encoding") || !list.has("content-length") ? null : Number(list.get("content-length"));
  return new Response(none ? null : typeof body === "number" ? streamOf(body, length) : body, { status, headers: list });
}
