//go:build browser

package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

var shots = flag.String("screenshots", "", "folder to keep screenshots of the pages in")

// page drives one tab.
type page struct {
	t   *testing.T
	ctx context.Context
}

func (p page) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// text waits until the page's text contains part.
func (p page) text(part string) {
	p.t.Helper()
	p.holds("document.body && document.body.innerText.includes(" + quoted(part) + ")")
}

// holds waits until a JavaScript expression is true.
func (p page) holds(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, testmachine.Until(expression, patience)); err != nil {
		at, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + " " + document.readyState`)) // "" if the browser is gone
		p.t.Fatalf("not true at %q: %v", at, err)
	}
}

// evaluate runs JavaScript for its effect.
func (p page) evaluate(code string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[string](code)(ctx, t)
		return err
	})
}

func quoted(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// shot is a main view, which is checked for accessibility and saved as a picture.
func (p page) shot(name string) {
	p.t.Helper()
	defer p.accessible(name)
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// accessible runs axe on a page, in light and in dark: it fails on accessibility violations.
func (p page) accessible(name string) {
	p.t.Helper()
	axe := driverFile(p.t, "axe-core", "axe.min.js")
	const run = `window.found = undefined;
axe.run({ resultTypes: ["violations"] }).then(
  ({ violations }) => {
    const text = (v) => v.nodes.map((n) => v.id + ": " + n.target + ": " + n.failureSummary);
    window.found = violations.flatMap(text).join("\n\n");
  },
  (e) => { window.found = "axe: " + e.stack }); ""`
	for _, scheme := range []string{"dark", "light"} {
		p.do(
			name+" in "+scheme,
			command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}),
			p.evaluate(axe+`; ""`), p.evaluate(run),
		)
		p.holds(`window.found !== undefined`)
		found, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("window.found"))
		if err != nil {
			p.t.Fatal(err)
		}
		if found != "" {
			p.t.Errorf("%s in %s:\n%s", name, scheme, found)
		}
	}
}

// TestBrowser uses the example site as a visitor, a member and the author do.
func TestBrowser(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"))
	p := page{t, testmachine.Browser(t)}

	p.do("home", chromedp.Navigate(d.URL+"/"))
	p.text("places free")
	p.shot("home")

	p.do("members page", chromedp.Navigate(d.URL+"/minutes/"))
	p.holds(`location.pathname === "/__pages/sign-in"`)
	p.shot("sign-in")
	p.do("sign in as outsider", chromedp.Click(`button[value="outsider"]`))
	p.holds(`location.pathname === "/minutes/"`)
	p.shot("refused")
	p.do("sign in again", chromedp.Navigate(d.URL+"/__pages/sign-in?next=%2Fminutes%2F"),
		chromedp.Click(`button[value="member"]`))
	p.holds(`location.pathname === "/minutes/" && document.title !== ""`)
	p.text("Minutes")
	p.shot("minutes")
	p.do("club", chromedp.Navigate(d.URL+"/club"))
	p.holds(`document.forms.length > 0`)
	p.do("a note", chromedp.SendKeys(`textarea[name="body"]`, "See you at six"), chromedp.Submit(`textarea[name="body"]`))
	p.text("See you at six")
	p.shot("club")

	p.do("join", chromedp.Navigate(d.URL+"/join"),
		chromedp.SendKeys(`#name`, "Ada Lovelace"), chromedp.SendKeys(`#email`, "ada@example.org"),
		chromedp.Click(`main form button`))
	p.text("Thank you. Tom will write")
	p.do("dashboard", chromedp.Navigate(d.URL+"/__pages/"))
	p.text("custom.membership_requested")
	p.text("ada@example.org")
	p.shot("dashboard")

	p.do("boom", chromedp.Navigate(d.URL+"/api/boom"))
	p.text("src/api/boom.ts:11")
	p.shot("error-page")
	testLivePage(d, p)
}

// loaded is true after the end of a page's load event.
const loaded = `performance.getEntriesByType("navigation")[0].loadEventEnd > 0`

// TestBrowserSignedOut: after signing out, the Back button shows no members page, not even the one with the sign-out. Live reload is off:
// its connection keeps pages out of Chromium's memory.
func TestBrowserSignedOut(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"), "--live-reload", "off")
	p := page{t, testmachine.Browser(t)}
	p.do("a members page", chromedp.Navigate(d.URL+"/__pages/sign-in?persona=member&next=%2Fminutes%2F"))
	p.holds(`location.pathname === "/minutes/" && ` + loaded) // before that, the form would replace the page in the history
	p.do(
		"sign out",
		p.evaluate(
			`const form = document.createElement("form"); form.method = "post"; form.action = "/__pages/sign-out"; `+
				`document.body.append(form); form.submit(); ""`,
		),
	)
	p.holds(`location.pathname === "/" && ` + loaded)
	p.do("back", p.evaluate(`history.back(); ""`))
	p.holds(`location.pathname === "/__pages/sign-in"`)
}

// testLivePage: an open page follows edits.
func testLivePage(d *devServer, p page) {
	p.do("about", chromedp.Navigate(d.URL+"/about"), p.evaluate(`window.mark = "still here"`))
	d.edit("public/css/site.css", "body", "h1 { letter-spacing: 7px !important } body")
	p.holds(`getComputedStyle(document.querySelector("h1")).letterSpacing === "7px"`)
	p.holds(`window.mark === "still here"`)

	d.edit("public/about.html", "</main>", "<p>Fresh from the editor</p></main>")
	p.text("Fresh from the editor")

	d.edit("src/worker.ts", "const app = new Hono<AppEnv>();", "const app = new Hono<AppEnv>(;")
	p.holds(`document.querySelector("pages-problems")?.shadowRoot.textContent.includes("src/worker.ts")`)
	p.shot("overlay")
	d.edit("src/worker.ts", "const app = new Hono<AppEnv>(;", "const app = new Hono<AppEnv>();")
	p.holds(`!document.querySelector("pages-problems")`)
	p.text("Fresh from the editor")
}
