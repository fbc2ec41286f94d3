//go:build browser

package devserver

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
)

// These tests drive a real Chromium, which not every machine has:
//
//	go test -tags browser -run Browser ./devserver

// openTab opens a browser tab that ends with the test.
func openTab(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(testmachine.Browser(t), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

type step = chromedp.Action[chromedp.Void]

func run(ctx context.Context, t *testing.T, what string, steps ...step) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func script(text string) step { return chromedp.Evaluate[chromedp.Void](text) }

func until(expression string) step { return testmachine.Until(expression, waitLimit) }

const overlayText = `document.querySelector("pages-problems")?.shadowRoot.textContent ?? ""`

func TestBrowserReload(t *testing.T) {
	dir := siteDir(t)
	page, css := filepath.Join(dir, "public/index.html"), filepath.Join(dir, "public/css/site.css")
	const html = `<!doctype html><title>t</title><link rel="stylesheet" href="/css/site.css"><h1>one</h1>`
	write(t, page, html)
	write(t, css, "h1 { color: rgb(1, 2, 3) }")
	age(t, page)
	age(t, css)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	ctx := openTab(t)
	const colour = `getComputedStyle(document.querySelector("h1")).color`
	run(ctx, t, "load", chromedp.Navigate(r.url+"/"), until(colour+` === "rgb(1, 2, 3)"`), until(`window.__pagesReload`))

	run(ctx, t, "mark", script(`window.mark = 1`))
	r.awaitStream(t)
	write(t, css, "h1 { color: rgb(4, 5, 6) }")
	run(
		ctx, t, "swap the style",
		until(colour+` === "rgb(4, 5, 6)" && document.querySelectorAll("link").length === 1 && window.mark === 1`),
	)

	write(t, page, strings.Replace(html, "one", "two", 1))
	run(ctx, t, "reload", until(`document.querySelector("h1")?.textContent === "two" && !window.mark`))

	run(ctx, t, "mark", script(`window.mark = 2`))
	r.awaitStream(t)
	write(t, css, "broken <img src=x onerror=alert(1)>")
	run(
		ctx, t, "overlay", until(`(`+overlayText+`).includes("public/css/site.css:1:3")`),
		until(`window.mark === 2 && !document.querySelector("img")`),
	)
	run(ctx, t, "overlay of a new page", chromedp.Reload(), until(`(`+overlayText+`).includes("unexpected")`))
	// The keyboard is enough: the overlay has the focus, its code can be scrolled, and it returns the focus.
	const inside = `document.querySelector("pages-problems").shadowRoot.activeElement?.localName`
	run(ctx, t, "it has the focus", until(inside+` === "button"`), chromedp.KeyEvent("\t"), until(inside+` === "pre"`))
	run(
		ctx, t, "close it", chromedp.KeyEvent("\x1b"),
		until(`!document.querySelector("pages-problems") && document.activeElement === document.body`),
	)

	write(t, css, "h1 { color: rgb(7, 8, 9) }")
	run(ctx, t, "recover", until(colour+` === "rgb(7, 8, 9)" && !document.querySelector("pages-problems")`))
}

// TestBrowserShares: the visible pages of a browser share one stream. All follow a save, and another page takes the stream over when the
// page that has it closes.
func TestBrowserShares(t *testing.T) {
	dir := siteDir(t)
	page, inner := filepath.Join(dir, "public/index.html"), filepath.Join(dir, "public/inner.html")
	const frame, sandboxed = `<iframe src="/inner"></iframe>`, `<iframe src="/inner" sandbox="allow-scripts"></iframe>`
	write(t, page, "<title>t</title>"+strings.Repeat(frame, 12)+sandboxed)
	write(t, inner, "one")
	age(t, page)
	age(t, inner)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	ctx := openTab(t)
	frames := func(text string) step {
		return until(`frames.length === 13 && [...Array(12).keys()].every((n) => frames[n].__pagesReload &&
			frames[n].document.body.textContent.trim() === "` + text + `")`)
	}
	run(ctx, t, "load", chromedp.Navigate(r.url+"/"), frames("one"))
	r.awaitStream(t) // the sandboxed frame, with its own origin, has none
	write(t, inner, "two")
	run(ctx, t, "save", frames("two"))
	write(t, filepath.Join(dir, "public/css/site.css"), "broken")
	run(ctx, t, "overlay", until(`(`+overlayText+`).includes("unexpected")`))
	// The page or a frame has the stream: after each of them closes, another one takes it.
	for range 12 {
		run(ctx, t, "remove", script(`document.querySelector("iframe").remove()`))
		r.awaitStream(t)
	}
	write(t, filepath.Join(dir, "public/css/site.css"), "good")
	run(ctx, t, "recover", until(`!document.querySelector("pages-problems") && frames.length === 13`))
}

// awaitStream waits until the browser has one reload stream.
func (r *running) awaitStream(t *testing.T) {
	t.Helper()
	testmachine.Await(t, "the browser has one stream", func() bool {
		r.hub.mu.Lock()
		defer r.hub.mu.Unlock()
		return len(r.hub.pages) == 1
	})
}

func TestBrowserProblemPageRecovers(t *testing.T) {
	dir := siteDir(t)
	page := filepath.Join(dir, "public/index.html")
	write(t, page, "first broken")
	age(t, page)
	r := serve(t, &folderBuilder{dir: dir}, Hot)
	ctx := openTab(t)
	run(
		ctx, t, "problem page", chromedp.Navigate(r.url+"/"),
		until(`document.documentElement.dataset.pagesBuild === "1"`), until(`window.__pagesReload`),
	)
	write(t, page, "second broken")
	run(
		ctx, t, "the next problem",
		until(`document.documentElement.dataset.pagesBuild === "2" && document.body.textContent.includes("second")`),
	)
	write(t, page, "<p>mended</p>")
	run(ctx, t, "recover", until(`document.body.textContent.trim() === "mended"`))
}

// A page whose policy allows only its own nonce, and no inline code, still reloads.
func TestBrowserStrictPolicy(t *testing.T) {
	dir := siteDir(t)
	r := serve(t, &folderBuilder{dir: dir, worker: strictWorker{}, routes: []manifest.Route{{Pattern: "/strict"}}}, Hot)
	ctx := openTab(t)
	run(ctx, t, "load", chromedp.Navigate(r.url+"/strict"), until(`window.__pagesReload`), script(`window.mark = 1`))
	write(t, filepath.Join(dir, "public/css/site.css"), "broken")
	run(ctx, t, "overlay", until(`(`+overlayText+`).includes("unexpected")`),
		until(`getComputedStyle(document.querySelector("pages-problems").shadowRoot.querySelector("section")).position === "relative"`))
	write(t, filepath.Join(dir, "public/css/site.css"), "good")
	run(ctx, t, "recover", until(`!window.mark && !document.querySelector("pages-problems")`))
}

func TestBrowserDashboard(t *testing.T) {
	dir := siteDir(t)
	r := serve(
		t,
		&folderBuilder{dir: dir, worker: pageWorker{}, routes: []manifest.Route{{Pattern: "/api/*", Access: manifest.Members}}},
		Hot,
	)
	ctx := openTab(t)
	has := func(id, text string) step {
		return until(`document.getElementById("` + id + `").textContent.includes("` + text + `")`)
	}
	run(ctx, t, "load", chromedp.Navigate(r.url+"/__pages/"), has("status", "serving"), has("routes", "/api/*"), has("personas", "member"))
	r.ask(t, "GET", "/css/site.css?<b>x")
	run(ctx, t, "a request shows up", has("requests-rows", "/css/site.css"), until(`!document.querySelector("#requests-rows b")`))
	run(
		ctx, t, "sign in", script(`document.querySelector("#personas button").click()`),
		has("member", "member@example.test"), has("personas", "Sign out"),
	)
	run(ctx, t, "post a form", script(`fetch("/__pages/forms/contact", {method: "POST", headers: {Accept: "application/json"},
		body: new URLSearchParams({message: "<i>hello</i>"})}).then((r) => r.status)`))
	run(
		ctx, t, "a lead shows up", has("leads-list", "<i>hello</i>"), has("events-list", "pages.lead.captured"),
		until(`!document.querySelector("i")`),
	)
	write(t, filepath.Join(dir, "public/css/site.css"), "broken")
	run(ctx, t, "a failed build", has("status", "build failed"), has("problems", "mend it"))
	run(ctx, t, "fits a phone", chromedp.EmulateViewport(360, 800), until(`document.documentElement.scrollWidth <= 360`))
}

// The rows of the dashboard keep their place and the focus while new ones arrive. Of many
// leads, the dashboard reads only those that it shows.
func TestBrowserDashboardKeepsItsPlace(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	ctx := openTab(t)
	post := func(n int, message string) step {
		return script(fmt.Sprintf(`(async () => { for (let i = 0; i < %d; i++) await fetch("/__pages/forms/contact", {
			method: "POST", headers: {Accept: "application/json"},
			body: new URLSearchParams({message: %q + i})}) })()`, n, message))
	}
	run(ctx, t, "load", chromedp.Navigate(r.url+"/__pages/"), until(`document.getElementById("status").textContent === "serving"`))
	run(ctx, t, "many leads", post(120, "early"), until(`document.getElementById("leads-count").textContent === "120"`))
	run(ctx, t, "no more than is shown", until(`document.querySelectorAll("#leads-list details").length === 100`),
		until(`!performance.getEntriesByType("resource").some((e) => /api\/(leads|events)$/.test(e.name))`))

	const focused = `document.activeElement?.textContent.includes("early119")`
	run(ctx, t, "open one", script(`document.querySelector("#leads-list summary").focus()`), chromedp.KeyEvent("\r"),
		until(focused+` && document.activeElement.parentElement.open`))
	run(ctx, t, "one more lead", post(1, "later"), until(`document.getElementById("leads-count").textContent === "121"`),
		until(`document.querySelector("#leads-list summary").textContent.includes("later0")`),
		until(focused+` && document.activeElement.parentElement.open`))

	r.ask(t, "GET", "/css/site.css")
	const look = `[...document.querySelectorAll("#requests-rows button")].find((b) => b.textContent.includes("/css/site.css"))`
	run(
		ctx, t, "look at a request", until(look), script(look+`.focus()`), chromedp.KeyEvent("\r"),
		until(`document.querySelector("tr.more")`),
	)
	run(ctx, t, "read everything again", script(`window.drawn = false; refresh().then(() => { window.drawn = true })`),
		until(`window.drawn`),
		until(`document.querySelector("tr.more") && document.activeElement === `+look))

	run(ctx, t, "fits the narrowest screen", post(1, strings.Repeat("unbroken", 12)),
		until(`document.getElementById("leads-count").textContent === "122"`),
		script(`for (const tool of document.querySelectorAll("details")) tool.open = true`),
		chromedp.EmulateViewport(320, 800), until(`document.documentElement.scrollWidth <= 320`))
}
