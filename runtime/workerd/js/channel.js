// Reports to the process that started workerd: lines of JSON after a token on standard output. workerd writes them at
// once, so that they survive its end.
import { AsyncLocalStorage } from "node:async_hooks";

const { stringify } = JSON;
const write = console.log.bind(console);
const requests = new AsyncLocalStorage();
const { run, getStore } = AsyncLocalStorage.prototype;
const { apply } = Reflect;

let token = "";

/** Sets the token, which the author's code does not know. */
export function open(secret) {
  token = secret;
}

/** Calls f on behalf of a request. */
export function onBehalf(request, f) {
  return apply(run, requests, [request, f]);
}

/** The current request; undefined for none. */
export function current() {
  return apply(getStore, requests, []);
}

const MAX_TEXT = 64 << 10; // limit of one text; Go cuts it there, too

function cut(text) {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… ${text.length - MAX_TEXT} more characters` : text;
}

// The limit of a request's log, as in Go, which keeps the quota: lines over it are not sent.
const MAX_LINES = 1001;
const MAX_CHARACTERS = (256 + 64) << 10;
let unclaimed = { lines: 0, characters: 0 }; // without a request

/** Resets the quota of lines without a request: the module is evaluated. */
export function loaded() {
  unclaimed = { lines: 0, characters: 0 };
}

/** Sends an event of a request; by default, of the current request. */
export function emit(event, request = current()) {
  const quota = request ?? unclaimed;
  if (event.kind === "line" || event.kind === "rejection") {
    if (quota.lines > MAX_LINES || quota.characters > MAX_CHARACTERS) return;
    for (const key of ["text", "stack"]) if (typeof event[key] === "string") event[key] = cut(event[key]);
    quota.lines++;
    quota.characters += event.text?.length ?? 0;
  }
  const id = request?.id;
  write(token + stringify({ __proto__: null, id, ...event })); // without a toJSON of the author
}
