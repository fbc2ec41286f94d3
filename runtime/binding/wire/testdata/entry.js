// A module that wraps a Worker and its fetch, as the package fetch describes it.
import { AsyncLocalStorage } from "node:async_hooks";

const send = fetch;
const requests = new AsyncLocalStorage();
globalThis.within = (id, work) => requests.run(id, work);
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  request.headers.set("Pages-Request", requests.getStore());
  const response = await send(request);
  const refusal = response.headers.get("Pages-Refusal");
  if (refusal === null) return response;
  const { name, message } = JSON.parse(refusal);
  throw name === "Error" ? new Error(message) : name === "TypeError" ? new TypeError(message) : new DOMException(message, name);
};
globalThis.send = send;
