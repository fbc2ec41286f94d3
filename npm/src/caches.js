// caches.default and caches.open, over the wire: the caches of the site's Worker.

class Cache {
  #wire;
  #name;
  constructor(wire, name) {
    this.#wire = wire;
    this.#name = name;
  }

  #ask(method, request, given = {}) {
    const headers = { ...Object.fromEntries(request.headers), ...given.headers };
    delete headers.host; // the URL has it
    if (this.#name !== undefined) headers["cf-cache-namespace"] = encodeURIComponent(this.#name);
    return this.#wire.call({ binding: "cache", method, path: request.url, headers, body: given.body });
  }

  async match(key, options) {
    const request = requestOf(key);
    if (!allows(request, options)) return undefined;
    const answer = await this.#ask("GET", request);
    if (answer.headers["cf-cache-status"] === "MISS") {
      answer.abort();
      return undefined;
    }
    const headers = new Headers();
    for (let at = 0; at < answer.rawHeaders.length; at += 2) {
      const name = answer.rawHeaders[at];
      if (!HOP.test(name)) headers.append(name, answer.rawHeaders[at + 1]);
    }
    const body = NO_BODY.includes(answer.status) ? null : await answer.bytes();
    headers.delete("content-encoding"); // pages sends it unchanged, and no code here decodes it
    return new Response(body, { status: answer.status, headers });
  }

  async put(key, response) {
    const request = requestOf(key);
    if (!(response instanceof Response))
      throw new TypeError("Failed to execute 'put' on 'Cache': parameter 2 is not of type 'Response'.");
    const { status, headers } = response;
    if (request.method !== "GET") throw new TypeError("Cannot cache response to non-GET request.");
    if (status === 206) throw new TypeError("Cannot cache response to a range request (206 Partial Content).");
    if (
      headers
        .get("vary")
        ?.split(",")
        .some((name) => name.trim() === "*")
    )
      throw new TypeError("Cannot cache response with 'Vary: *' header.");
    const content = new Uint8Array(await response.arrayBuffer());
    const lines = [`HTTP/1.1 ${status} ${response.statusText}`];
    for (const [name, value] of headers) if (!CODED.test(name)) lines.push(`${name}: ${value}`);
    lines.push(`content-length: ${content.byteLength}`, "", "");
    const body = [Buffer.from(lines.join("\r\n"), "latin1"), content];
    await (await this.#ask("PUT", request, { body })).bytes();
  }

  async delete(key, options) {
    const request = requestOf(key);
    if (!allows(request, options)) return false;
    const answer = await this.#ask("PURGE", request);
    await answer.bytes();
    return answer.status === 200;
  }
}

const HOP = /^(connection|keep-alive|transfer-encoding|content-length)$/i;
const CODED = /^(content-encoding|content-length|transfer-encoding|connection)$/i; // a Response has decoded its body
const NO_BODY = [101, 204, 205, 304];

function requestOf(key) {
  return key instanceof Request ? key : new Request(`${key}`);
}

function allows(request, options) {
  for (const name of ["ignoreSearch", "ignoreVary"]) {
    if (options?.[name] !== undefined)
      throw new Error(`The '${name}' field on 'CacheQueryOptions' is not implemented.`);
  }
  return request.method === "GET" || !!options?.ignoreMethod;
}

/** The caches of a site. */
export function cachesOf(wire) {
  const main = new Cache(wire, undefined);
  return { default: main, open: async (name) => new Cache(wire, `${name}`) };
}
