// The requests of the constructors WebSocket and EventSource. They take no headers, so the last parameter of the URL names the current
// request; the gateway removes it.
import { current } from "./channel.js";

const NativeURL = URL;
const { apply, construct } = Reflect;
const { defineProperty, getOwnPropertyDescriptor } = Object;
const hrefOf = getOwnPropertyDescriptor(URL.prototype, "href").get;
const { get: searchOf, set: setSearch } = getOwnPropertyDescriptor(URL.prototype, "search");
const { indexOf, lastIndexOf, slice } = String.prototype;

// The name of runtime/web/fetch/gateway.go.
const MARK = "pages-request=";

export function install() {
  for (const name of ["WebSocket", "EventSource"]) replace(name);
}

function replace(name) {
  const native = globalThis[name];
  const { prototype } = native;
  const outer = new Proxy(native, {
    construct(target, args, newTarget) {
      const request = current();
      if (request !== undefined && args.length > 0) args = [marked(`${args[0]}`, request.id), args[1]];
      return construct(target, args, newTarget === outer ? target : newTarget);
    },
  });
  defineProperty(globalThis, name, { ...getOwnPropertyDescriptor(globalThis, name), value: outer });
  defineProperty(prototype, "constructor", { ...getOwnPropertyDescriptor(prototype, "constructor"), value: outer });
  const url = getOwnPropertyDescriptor(prototype, "url");
  const { get } = {
    get() {
      return unmarked(apply(url.get, this, []));
    },
  };
  defineProperty(get, "name", { value: "get url", configurable: true });
  defineProperty(prototype, "url", { ...url, get });
}

// An invalid URL stays unchanged: the constructor reports it.
function marked(text, id) {
  try {
    const url = new NativeURL(text);
    const search = apply(searchOf, url, []);
    apply(setSearch, url, [`${search === "" ? "?" : `${search}&`}${MARK}${id}`]);
    return apply(hrefOf, url, []);
  } catch {
    return text;
  }
}

function unmarked(text) {
  if (typeof text !== "string") return text;
  const from = apply(lastIndexOf, text, [MARK]);
  if (from < 1) return text;
  const fragment = apply(indexOf, text, ["#", from]);
  return apply(slice, text, [0, from - 1]) + (fragment < 0 ? "" : apply(slice, text, [fragment]));
}
