// The site's static files, asked as by a browser but within this process.
import { host } from "../../../web/webidl/js/host.js";
import { dress } from "../../../web/webidl/js/idl.js";
import { answered } from "../../../web/fetch/js/response.js";
import { streamOf } from "../../hostcall/js/body.js";
import { required } from "../../hostcall/js/convert.js";

const REDIRECTS = [301, 302, 303, 307, 308];
const EMPTY = [204, 205, 304];

export class Fetcher {
  #id;
  constructor(id) {
    this.#id = id;
  }

  async fetch(input, init) {
    required(arguments, "fetch", "Fetcher", "Request or string");
    const request = new Request(input, init);
    if (request.url.startsWith("data:")) return fetch(request);
    if (!/^https?:/.test(request.url)) throw new TypeError(`Fetch API cannot load: ${request.url}`);
    const { redirect } = request; // "manual" of a visitor's own: their browser follows
    const headers = [...request.headers].flat();
    let url = request.url;
    for (let hops = 0; hops <= 20; hops++) {
      request.signal.throwIfAborted();
      const answer = await host.assets_fetch(this.#id, request.method, url, headers);
      const response = answered(responseOf(answer, request), url, hops > 0);
      const location =
        REDIRECTS.includes(response.status) && redirect !== "manual" ? response.headers.get("location") : null;
      if (location === null) return response;
      if (redirect === "error")
        throw new TypeError('ASSETS.fetch: there was a redirect and the request\'s redirect mode is "error"');
      await response.body?.cancel();
      url = new URL(location, url).href;
    }
    throw new TypeError("ASSETS.fetch: too many redirects");
  }
}

dress("Fetcher", Fetcher);

function responseOf({ status, statusText, headers, body }, request) {
  const list = new Headers();
  for (let i = 0; i < headers.length; i += 2) list.append(headers[i], headers[i + 1]);
  const none = request.method === "HEAD" || EMPTY.includes(status);
  if (none && typeof body === "number") host.binding_close(body);
  const length =
    list.has("content-encoding") || !list.has("content-length") ? null : Number(list.get("content-length"));
  return new Response(none ? null : typeof body === "number" ? streamOf(body, length) : body, {
    status,
    statusText,
    headers: list,
  });
}
