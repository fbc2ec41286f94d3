// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { test } from "node:test";

const url = process.env.PAGES_URL;

async function signIn(persona) {
  const answer = await fetch(`${url}/__pages/sign-in`, { method: "POST", body: new URLSearchParams({ persona }), redirect: "manual" });
  return { cookie: answer.headers.getSetCookie()[0].split(";")[0] };
}

test("everybody may read the start page", async () => {
  assert.equal((await fetch(url)).status, 200);
});

test("members pages are for members", async () => {
  const page = `${url}/members/`;
  assert.equal((await fetch(page)).status, 401);
  assert.equal((await fetch(page, { headers: await signIn("outsider") })).status, 403);
  const answer = await fetch(page, { headers: await signIn("member") });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /For members/);
});
