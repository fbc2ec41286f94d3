// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { test } from "node:test";

const url = process.env.PAGES_URL;

test("the Worker answers", async () => {
  const answer = await fetch(`${url}/api/hello/Ada`);
  assert.equal(answer.status, 200);
  assert.match((await answer.json()).message, /^Hello Ada/);
});

test("an unknown path of the Worker is a 404", async () => {
  assert.equal((await fetch(`${url}/api/none`)).status, 404);
});

test("pages are served beside it", async () => {
  assert.match(await (await fetch(url)).text(), /<h1>/);
});
