// Packages that ask by node:http, as their documentation shows; at is the server.
import follow from "follow-redirects";
import nodeFetch from "node-fetch";

/** https://github.com/follow-redirects/follow-redirects#readme */
export async function followRedirects(at) {
  const moved = await new Promise((resolve, reject) => {
    follow.http.get(`${at}/moved`, async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      resolve([response.responseUrl.replace(at, ""), text]);
    }).on("error", reject);
  });
  const posted = await new Promise((resolve, reject) => {
    const request = follow.http.request(`${at}/echo`, { method: "POST", headers: { authorization: "Bearer t" } }, (response) => response.on("data", (data) => resolve(JSON.parse(data))));
    request.on("error", reject);
    request.write("one ");
    request.end("two");
  });
  const slow = await new Promise((resolve) => {
    const request = follow.http.get(`${at}/slow`).on("error", (error) => resolve(error.code));
    request.setTimeout(20, () => request.destroy(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })));
  });
  const looping = await new Promise((resolve) => { follow.http.get({ hostname: "127.0.0.1", port: new URL(at).port, path: "/moved", maxRedirects: 0 }).on("error", (error) => resolve(error.code)); });
  return { moved, posted, slow, looping };
}

/** https://github.com/node-fetch/node-fetch#readme */
export async function fetch(at) {
  const posted = await (await nodeFetch(`${at}/echo`, { method: "POST", body: JSON.stringify({ name: "tern" }), headers: { "Content-Type": "application/json" } })).json();
  const moved = await nodeFetch(`${at}/moved`), large = await nodeFetch(`${at}/large`);
  const controller = new AbortController(), slow = nodeFetch(`${at}/slow`, { signal: controller.signal }).catch((error) => error.name);
  controller.abort();
  return { posted, moved: [moved.redirected, moved.url.replace(at, ""), await moved.text()], large: (await large.arrayBuffer()).byteLength, slow: await slow };
}
