import { expect, test } from "@playwright/test";

// Each test begins with the state that `pages test` began with.
test.beforeEach(async ({ request }) => {
  const reset = await request.post("/__pages/api/test/reset", {
    headers: { Authorization: `Bearer ${process.env.PAGES_TEST_TOKEN}` },
    data: {},
  });
  expect(reset.ok()).toBe(true);
});

test("a member signs in and reads the minutes, a stranger does not", async ({ page }) => {
  await page.goto("/minutes/");
  await expect(page).toHaveURL(/sign-in/);
  await page.getByRole("button", { name: /Sam Outsider/ }).click();
  await expect(page.getByText("not a member")).toBeVisible();
  await page.goto("/__pages/sign-in?next=/minutes/");
  await page.getByRole("button", { name: /Robin Member/ }).click();
  await expect(page).toHaveURL(/\/minutes\/$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

for (const name of ["Ada", "Grace"]) {
  test(`the form makes a lead: ${name}`, async ({ page, request }) => {
    await page.goto("/join");
    await page.fill("#name", name);
    await page.fill("#email", `${name}@example.org`);
    await page.locator("main form button").click();
    await expect(page.getByText("Thank you")).toBeVisible();
    const { leads } = await (await request.get("/__pages/api/leads")).json();
    expect(leads.map((lead) => [lead.form, lead.fields.name])).toEqual([["membership", name]]);
  });
}
