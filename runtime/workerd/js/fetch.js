// The fetch of a Worker in workerd: each request names the Worker's request that makes it, and a refusal of the gateway becomes an
// exception.
import { current } from "./channel.js";

const NativeRequest = Request;
const NativeError = { Error, TypeError, RangeError };
const NativeDOMException = DOMException;
const nativeFetch = fetch;
const { apply } = Reflect;
const { parse } = JSON;
const { set, get } = Headers.prototype;
const { then } = Promise.prototype;
const { reject } = Promise;
const getterOf = (cls) => Object.getOwnPropertyDescriptor(cls.prototype, "headers").get;
const requestHeaders = getterOf(Request);
const responseHeaders = getterOf(Response);

// The header names of runtime/web/fetch/gateway.go.
const ID = "pages-request";
const REFUSAL = "pages-refusal";

export function install() {
  const { fetch } = {
    fetch(input, init) {
      const request = current();
      if (request === undefined || (this !== undefined && this !== null && this !== globalThis))
        return apply(nativeFetch, this, arguments);
      let outbound;
      try {
        outbound = new NativeRequest(input, init);
        apply(set, apply(requestHeaders, outbound, []), [ID, request.id]);
      } catch (error) {
        return apply(reject, Promise, [error]);
      }
      return apply(then, apply(nativeFetch, undefined, [outbound]), [unlessRefused]);
    },
  };
  Object.defineProperty(fetch, "length", { value: nativeFetch.length, configurable: true });
  Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, enumerable: true, configurable: true });
}

function unlessRefused(response) {
  const refusal = apply(get, apply(responseHeaders, response, []), [REFUSAL]);
  if (refusal === null) return response;
  const { name, message } = parse(refusal);
  const cls = NativeError[name];
  throw cls === undefined ? new NativeDOMException(message, name) : new cls(message);
}
