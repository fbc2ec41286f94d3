// Run with: pages test -- node --test
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const { PAGES_URL: url, PAGES_TEST_TOKEN: token } = process.env;
const json = async (path) => (await fetch(url + path)).json();

// Each test starts from the initial state of `pages test`.
beforeEach(async () => {
  const reset = await fetch(`${url}/__pages/api/test/reset`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
  });
  assert.equal(reset.status, 200);
});

async function signIn(persona) {
  const answer = await fetch(`${url}/__pages/sign-in`, { method: "POST", body: new URLSearchParams({ persona }), redirect: "manual" });
  return { Cookie: answer.headers.getSetCookie()[0].split(";")[0] };
}

test("members pages are for members", async () => {
  assert.equal((await fetch(`${url}/minutes/`)).status, 401);
  assert.equal((await fetch(`${url}/minutes/`, { headers: await signIn("outsider") })).status, 403);
  assert.equal((await fetch(`${url}/minutes/`, { headers: await signIn("member") })).status, 200);
});

for (const name of ["Ada", "Grace"]) {
  test(`the form makes one lead and two events: ${name}`, async () => {
    const fields = { name, email: `${name}@example.org`, _token: "clicked twice" };
    for (let click = 0; click < 2; click++) {
      const sent = await fetch(`${url}/__pages/forms/membership`, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
      assert.equal(sent.status, 303);
    }
    const { leads } = await json("/__pages/api/leads");
    assert.deepEqual(leads.map((lead) => [lead.form, lead.fields.name, lead.submission.status]), [["membership", name, "written"]]);
    const { events } = await json("/__pages/api/events");
    assert.deepEqual(events.map((event) => event.name).sort(), ["custom.membership_requested", "pages.lead.captured"]);
  });
}
