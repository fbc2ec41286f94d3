// https://fetch.spec.whatwg.org/#fetch-method Go does the work; a body that
// only JavaScript can read is pushed to it piece by piece.
import { host } from "../../webidl/js/host.js";
import { onAbort } from "../../events/js/abort.js";
import { HostBody, foreignBody, takeAsIs, unusable } from "./body.js";
import { get } from "./headers.js";
import { need, operation } from "../../webidl/js/idl.js";
import { Request, isRequest, target } from "./request.js";
import { fetched, upgraded } from "./response.js";
import { asText, isStream, lengthOf, pump } from "../../streams/js/streams.js";
import { located, placed, position } from "../../language/js/trace.js";
import { dial } from "./upgrade.js";

let last = 0;

async function fetch(input, init = undefined) {
  need(arguments.length, 1, "fetch");
  const request = init === undefined && isRequest(input) ? input : new Request(input, init);
  const state = target(request),
    { method, url, list, redirect, signal } = state;
  const refused = foreignBody(state);
  if (refused !== undefined) throw refused;
  if (unusable(state)) throw new TypeError("fetch: the request's body has already been used");
  const body = takeAsIs(state);
  if (signal?.aborted) {
    if (isStream(body)) body.cancel(signal.reason).catch(() => {});
    throw signal.reason;
  }
  const token = ++last;
  if (get(list, "upgrade")?.toLowerCase() === "websocket") return handshake(token, state);
  const here = position();
  let source = body,
    handle = -1,
    length = -1,
    stream = null;
  if (body instanceof HostBody) {
    source = null;
    handle = body.handle;
    length = body.length ?? -1;
  } else if (body !== null && typeof body === "object" && !(body instanceof Uint8Array)) {
    source = null;
    stream = body;
    length = lengthOf(stream) ?? -1;
  }
  const manual = init !== undefined && state.manual; // as the platform: of a Request it is lost
  const answer = host.fetch_start(
    token,
    method,
    url,
    uncached(list, state.asked?.cache),
    redirect,
    source,
    handle,
    stream !== null,
    length,
    state.asked?.integrity ?? "",
    manual,
  );
  if (stream !== null) upload(token, stream, signal);
  if (signal !== null) onAbort(signal, () => host.fetch_abort(token));
  try {
    const [status, text, at, redirected, headers, answerHandle] = await answer;
    return fetched(status, text, headers, answerHandle, at, redirected, signal, manual);
  } catch (error) {
    throw signal?.aborted ? signal.reason : placed(error, here);
  }
}

// The headers with which a request's cache mode controls caches on its way (Fetch standard, 4.6).
function uncached(list, cache = "default") {
  if (cache === "default") return list;
  const sent = list.slice(),
    add = (name, value) => {
      if (get(sent, name) === null) sent.push(name, value);
    };
  if (cache === "no-cache") {
    add("cache-control", "max-age=0");
  } else {
    add("pragma", "no-cache");
    add("cache-control", "no-cache");
  }
  return sent;
}

async function handshake(token, { url, list, redirect, signal }) {
  const protocols =
    get(list, "sec-websocket-protocol")
      ?.split(",")
      .map((name) => name.trim()) ?? [];
  const answer = located(dial(token, url, list, protocols, redirect));
  if (signal !== null) onAbort(signal, () => host.fetch_abort(token));
  try {
    const [status, text, at, redirected, headers, handle, socket] = await answer;
    return socket === null
      ? fetched(status, text, headers, handle, at, redirected, signal, false)
      : upgraded(status, text, headers, socket, at);
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

function upload(token, stream, signal) {
  const watch = signal === null ? null : (cancel) => onAbort(signal, cancel);
  pump(stream, (bytes) => host.fetch_upload(token, bytes), watch, asText)
    .then(
      () => host.fetch_upload_end(token, null),
      (error) => host.fetch_upload_end(token, `${error}`),
    )
    .catch(() => {}); // the response of fetch reports it
}

export function install() {
  operation("fetch", fetch);
}
