// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { test } from "node:test";

test("the site answers at its front door", async () => {
  const answer = await fetch(process.env.PAGES_URL);
  assert.ok(answer.status < 500, `status ${answer.status}`);
});
