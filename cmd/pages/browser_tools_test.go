//go:build browser

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserTools uses the dashboard's tools as an author does.
func TestBrowserTools(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"), "--as", "member")
	p := page{t, testmachine.Browser(t)}
	d.get("/api/boom")
	p.do("dashboard", chromedp.Navigate(d.URL+"/__pages/"))
	p.text("/api/boom")

	// The log of a request, then its replay.
	p.do("a request", p.evaluate(`document.querySelector("#requests-rows .link").click(); ""`))
	p.holds(`document.querySelector("tr.more pre")?.textContent.includes("src/api/boom.ts:11")`)
	p.do("replay", p.evaluate(`[...document.querySelectorAll("tr.more button")].find((b) => b.textContent === "Replay").click(); ""`))
	p.holds(`document.querySelector("#send-answer")?.textContent.includes("500 ")`)
	p.do(
		"explain",
		p.evaluate(`document.querySelector("#send-path").value = "/club/x"; document.querySelector("#send-explain").click(); ""`),
	)
	p.holds(`document.querySelector("#send-answer").textContent.includes("is for members")`)

	// The steps of a request.
	d.get("/api/outings?token=abcdef")
	p.holds(`document.querySelector("#requests-rows")?.textContent.includes("/api/outings?token=******")`)
	const outings = `[...document.querySelectorAll("#requests-rows .link")].find((l) => l.textContent.includes("/api/outings"))`
	p.do("a request with steps", p.evaluate(outings+`.click(); ""`))
	p.holds(`document.querySelector("tr.more .steps summary")?.textContent.includes("d1_batch 2 statements")`)
	p.holds(`[...document.querySelectorAll("tr.more .steps summary")]
		.some((s) => s.textContent.includes("d1_query SELECT * FROM outings"))`)
	p.holds(`document.querySelector("tr.more .steps .bar").getBoundingClientRect().width > 0`)
	p.do("one of them", p.evaluate(`document.querySelector("tr.more .steps summary").click(); ""`))
	p.holds(`[...document.querySelectorAll("tr.more .steps details[open] dd")].some((d) => d.textContent === "sqlite")`)
	p.shot("dashboard-steps")

	// The database, first read-only.
	p.do("open the database", p.evaluate(`location.hash = "database"; ""`))
	p.holds(`[...document.querySelectorAll("#db-tables button")].some((b) => b.textContent === "crews")`)
	p.do("a table", p.evaluate(`[...document.querySelectorAll("#db-tables button")].find((b) => b.textContent === "crews").click(); ""`))
	p.holds(`document.querySelectorAll("#db-answer tbody tr").length > 1`)
	const run = `; document.querySelector("#db-form").requestSubmit(); ""`
	p.do(
		"big numbers",
		p.evaluate(
			`document.querySelector("#db-sql").value = "SELECT 9007199254740993 AS n, '<b>x</b>' AS html, NULL AS none,`+
				` x'00ff' AS bytes"`+run,
		),
	)
	p.holds(`document.querySelector("#db-answer tbody")?.textContent === "9007199254740993<b>x</b>NULLblob, 2 bytes"`)
	p.do("a write, read-only", p.evaluate(`document.querySelector("#db-sql").value = "DELETE FROM audit_log"`+run))
	p.holds(`document.querySelector("#db-answer").textContent.includes("this statement writes")`)
	p.do("a write", p.evaluate(`document.querySelector("#db-write").click(); ""`))
	p.holds(`/Ran 1 statement, wrote \d+ row/.test(document.querySelector("#db-answer").textContent)`)
	p.shot("dashboard-database")

	// Keys.
	p.do("open KV", p.evaluate(`location.hash = "kv"; ""`))
	p.do(
		"put a key",
		p.evaluate(
			`document.querySelector("#kv-key").value = "a/<i>b"; document.querySelector("#kv-value").value = "hello"; `+
				`document.querySelector("#kv-entry").requestSubmit(); ""`,
		),
	)
	p.holds(`document.querySelector("#kv-keys")?.textContent.includes("a/<i>b")`)
	p.do(
		"show it",
		p.evaluate(
			`document.querySelector("#kv-value").value = ""; [...document.querySelectorAll("#kv-keys .link")].find((b) => `+
				`b.textContent === "a/<i>b").click(); ""`,
		),
	)
	p.holds(`document.querySelector("#kv-value").value === "hello" && document.querySelector("#kv-said").textContent.includes("5 bytes")`)
	p.do("delete it", p.evaluate(`window.confirm = () => true; document.querySelector("#kv-delete").click(); ""`))
	p.holds(
		`document.querySelector("#kv-said").textContent === "Deleted." && ` +
			`!document.querySelector("#kv-keys").textContent.includes("a/<i>b")`,
	)

	// Objects: upload, folders, a picture, delete.
	p.do("open the storage", p.evaluate(`location.hash = "storage"; ""`))
	p.do("upload", p.evaluate(`(() => {
		const bytes = Uint8Array.from(atob(
			"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0));
		const files = new DataTransfer();
		files.items.add(new File([bytes], "dot.png", { type: "image/png" }));
		files.items.add(new File(["<script>"], "x.html", { type: "text/html" }));
		document.querySelector("#storage-prefix").value = "photos/";
		document.querySelector("#storage-files").files = files.files;
		document.querySelector("#storage-files").dispatchEvent(new Event("change"));
		return "";
	})()`))
	p.holds(`document.querySelectorAll("#storage-rows tr").length === 2 && document.querySelector("#storage-rows img")?.naturalWidth === 1`)
	p.shot("dashboard-storage")
	p.do("delete", p.evaluate(`document.querySelector("#storage-rows .risky").click(); ""`))
	p.holds(`document.querySelectorAll("#storage-rows tr").length === 1`)
	p.do(
		"folders",
		p.evaluate(`document.querySelector("#storage-prefix").value = ""; document.querySelector("#storage-form").requestSubmit(); ""`),
	)
	p.holds(`document.querySelector("#storage-rows .link")?.textContent === "photos/"`)

	// Migrations, and a lead's events once more.
	p.do("open the migrations", p.evaluate(`document.querySelector("#migrations").open = true; ""`))
	p.holds(`document.querySelectorAll("#migrations-rows .applied").length === 4`)
	d.do("POST", "/__pages/forms/membership", "name=Ada", "Content-Type: application/x-www-form-urlencoded")
	p.holds(`document.querySelector("#leads-list details")`)
	p.do(
		"replay a lead",
		p.evaluate(
			`const lead = document.querySelector("#leads-list details"); lead.open = true; `+
				`[...lead.querySelectorAll("button")].find((b) => b.textContent === "Replay").click(); ""`,
		),
	)
	p.holds(`document.querySelector("#events-list .tag.pending")`)

	// The mail on it for a member.
	p.holds(`document.querySelectorAll("#mails-list details").length === 1`)
	p.do("look at the mail", p.evaluate(`document.querySelector("#mails-list details").open = true; ""`))
	p.holds(`document.querySelector("#mails-list").innerText.includes("owner@example.test") && ` +
		`document.querySelector("#mails-list pre").textContent.includes("name: Ada")`)
	p.shot("dashboard-mail")

	// Spam is stored apart, with its reasons, and can be moved back.
	d.do("POST", "/__pages/forms/membership", "name=Bot&_gotcha=x", "Content-Type: application/x-www-form-urlencoded")
	p.holds(`document.querySelector("#spam-count").textContent === "1" && document.querySelector("#leads-count").textContent === "1"`)
	p.do("look at the spam", p.evaluate(`for (const d of document.querySelectorAll("#spam, #spam details")) d.open = true; ""`))
	p.holds(`document.querySelector("#spam-list").textContent.includes("_gotcha")`)
	p.shot("dashboard-spam")
	const mark = `[...document.querySelectorAll("#leads button")].find((b) => b.textContent === %q).click(); ""`
	p.do("no spam", p.evaluate(fmt.Sprintf(mark, "Not spam")))
	p.holds(`document.querySelector("#spam").hidden && document.querySelector("#leads-count").textContent === "2"`)
	p.do("spam", p.evaluate(fmt.Sprintf(mark, "Spam")))
	p.holds(`document.querySelector("#spam-count").textContent === "1" && document.querySelector("#leads-count").textContent === "1"`)

	p.do("fits a phone", chromedp.EmulateViewport(360, 800))
	p.holds(`document.documentElement.scrollWidth <= 360`)
	p.shot("dashboard-phone")
}

// TestBrowserPlaywright runs Playwright's own runner against a site.
func TestBrowserPlaywright(t *testing.T) {
	path := program(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("the browser tests need Chromium: apt-get install chromium")
	}
	cmd := exec.Command(
		path, "test", "-q", "-C", copyExample(t, "riverside"), "--", "node", "node_modules/@playwright/test/cli.js",
		"test", "--output", t.TempDir(),
	)
	cmd.Dir = filepath.Join(sites, "playwright")
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "3 passed") {
		t.Errorf("%v\n%s", err, out)
	}
}
