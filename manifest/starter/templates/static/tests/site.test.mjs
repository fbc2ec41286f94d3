// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { test } from "node:test";

const url = process.env.PAGES_URL;

test("the start page is served", async () => {
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /<h1>/);
});

test("an unknown path gets the page for that", async () => {
  const answer = await fetch(`${url}/no/such/page`);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /There is no such page/);
});

test("the form makes a lead and its event", async () => {
  const body = new URLSearchParams({ form: "contact", name: "Ada", email: "ada@example.org", message: "Hello", _next: "/thanks" });
  const sent = await fetch(`${url}/__pages/forms`, { method: "POST", body, redirect: "manual" });
  assert.equal(sent.status, 303);
  assert.equal(sent.headers.get("location"), "/thanks");
  const { leads } = await (await fetch(`${url}/__pages/api/leads`)).json();
  assert.equal(leads[0].fields.name, "Ada");
  assert.ok(leads[0].events.includes("custom.contact_requested"));
});
