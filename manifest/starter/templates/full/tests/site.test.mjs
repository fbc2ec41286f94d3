// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const { PAGES_URL: url, PAGES_TEST_TOKEN: token } = process.env;

// Each test begins with the state that `pages test` began with.
beforeEach(async () => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  assert.equal((await fetch(`${url}/__pages/api/test/reset`, { method: "POST", headers })).status, 200);
});

async function signIn(persona) {
  const answer = await fetch(`${url}/__pages/sign-in`, { method: "POST", body: new URLSearchParams({ persona }), redirect: "manual" });
  return { cookie: answer.headers.getSetCookie()[0].split(";")[0] };
}

test("members write notes, everybody reads them", async () => {
  const body = new URLSearchParams({ body: "Meet at six" });
  const pin = (headers) => fetch(`${url}/club/notes`, { method: "POST", body, headers: { ...headers, origin: url }, redirect: "manual" });
  assert.equal((await pin({})).status, 401);
  assert.equal((await pin(await signIn("outsider"))).status, 403);
  assert.equal((await pin(await signIn("member"))).status, 303);
  const { notes } = await (await fetch(`${url}/api/notes`)).json();
  assert.equal(notes[0].body, "Meet at six");
});

test("the form lands in the inbox and in the site's own table", async () => {
  const body = new URLSearchParams({ form: "contact", name: "Ada", email: "ada@example.org", message: "Hello" });
  assert.equal((await fetch(`${url}/__pages/forms`, { method: "POST", body, redirect: "manual" })).status, 303);
  const { leads } = await (await fetch(`${url}/__pages/api/leads`)).json();
  assert.equal(leads[0].submission.status, "written");
  assert.ok(leads[0].events.includes("custom.contact_requested"));
});

test("enquiries need the key", async () => {
  assert.equal((await fetch(`${url}/api/enquiries`)).status, 401);
});

test("a photo is kept small", async () => {
  const headers = { ...(await signIn("member")), origin: url };
  const hang = (bytes) => {
    const body = new FormData();
    body.set("photo", new File([bytes], "photo.png", { type: "image/png" }));
    return fetch(`${url}/club/photo`, { method: "POST", body, headers, redirect: "manual" });
  };
  assert.equal((await fetch(`${url}/api/photo`)).status, 404);
  assert.equal((await hang("no photo")).status, 422);
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  assert.equal((await hang(Buffer.from(pixel, "base64"))).status, 303);
  const photo = await fetch(`${url}/api/photo`);
  assert.equal(photo.headers.get("content-type"), "image/jpeg");
});
