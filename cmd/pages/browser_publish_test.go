//go:build browser

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

var mailedLink = regexp.MustCompile(`http://\S+`)

// TestBrowserPublish publishes the example site twice and rolls it back: CI proposes with a service account's key, a person approves in the
// console, visitors look.
func TestBrowserPublish(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	ci := &publisher{t, copyExample(t, "riverside"), t.TempDir(), s.URL, s.Keys["service"]}
	if _, text, err := s.call(
		s.Keys["member"], "page.set_secret",
		`{"site_id":"`+s.Demo["unpublished_site_id"]+`","name":"ARCHIVE_KEY","value":"`+canary+`"}`,
	); err != nil || !strings.Contains(text, `"ok":true`) {
		t.Fatal(text, err)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	site := "http://" + demoNew + ":" + u.Port()
	ctx := testmachine.Browser(t)
	visitor := page{t, ctx}
	tab, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	if err := chromedp.Do(tab); err != nil { // it lives as long as the context that it is started with
		t.Fatal(err)
	}
	console := page{t, tab}

	console.do("the console", chromedp.Navigate(s.URL+"/"), chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	console.text("Acme Studio")

	// approve runs a command that waits for a person, who decides in the console.
	approve := func(what, shot string, args ...string) {
		t.Helper()
		code, stdout, stderr := ci.run(args...)
		line := strings.Fields(stdout)
		if code != failure.ExitPerson || len(line) != 3 {
			t.Fatalf("%s: exit code %d: %s%s", what, code, stdout, stderr)
		}
		console.do(what, chromedp.Navigate(s.URL+"/console/w/acme/proposals"))
		console.text("Deploy bot")
		console.text("What " + demoNew + " serves")
		console.shot(shot)
		console.do("approve", chromedp.Click(`form[action$="`+line[2]+`/approve"] button`))
		console.text("Done.")
		console.text("No proposal needs approval.")
	}
	heading := func(want string) {
		t.Helper()
		visitor.do("about", chromedp.Navigate(site+"/about"))
		visitor.holds(`document.querySelector("h1").textContent.trim() === ` + quoted(want))
	}

	visitor.do("before", chromedp.Navigate(site+"/"))
	visitor.holds(`performance.getEntriesByType("navigation")[0].responseStatus === 404`)
	visitor.shot("publish-before")
	approve("the first", "publish-proposal", "deploy", "--site", "Open studio", "--propose-only")
	visitor.do("home", chromedp.Navigate(site+"/"))
	visitor.text("places free") // by the Worker, of the site's database
	visitor.holds(`[...document.images].every((i) => i.complete && i.naturalWidth > 0)`)
	visitor.shot("publish-live")

	// A members page asks the visitor to sign in, and shows nothing else.
	visitor.do("members page", chromedp.Navigate(site+"/minutes/"))
	visitor.holds(`location.pathname === "/__pages/sign-in"`)
	visitor.shot("publish-sign-in")
	visitor.do("ask for a link", chromedp.SendKeys(`input[name="email"]`, "ana@acme.test"), chromedp.Click(`main button, form button`))
	visitor.text("ana@acme.test")
	link := mailedLink.FindString(s.mailTo(t, "ana@acme.test"))
	if link == "" {
		t.Fatalf("no mail: %s", s.stderr)
	}
	visitor.do("follow it", chromedp.Navigate(link), chromedp.Click(`form button`))
	visitor.holds(`location.pathname === "/minutes/" && document.body.innerText.includes("Minutes")`)
	visitor.shot("publish-member")

	about := filepath.Join(ci.dir, "public", "about.html")
	first, err := os.ReadFile(about)
	if err != nil {
		t.Fatal(err)
	}
	visitor.do("about", chromedp.Navigate(site+"/about"))
	old, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("h1").textContent.trim()`))
	if err != nil || old == "" || !strings.Contains(string(first), old) {
		t.Fatalf("%q %v", old, err)
	}
	put(t, about, strings.ReplaceAll(string(first), old, "The club, rewritten"))
	heading(old)
	approve("the second", "publish-again", "deploy", "--propose-only")
	heading("The club, rewritten")
	visitor.shot("publish-second")

	approve("the way back", "publish-rollback", "rollback")
	heading(old)
	visitor.shot("publish-rolled-back")
	console.do("sites", chromedp.Navigate(s.URL+"/console/w/acme/sites"))
	console.text(demoNew)
	console.shot("publish-sites")
	for _, secret := range []string{canary, s.Keys["member"], s.Keys["service"]} {
		if strings.Contains(s.stderr.String(), secret) {
			t.Error("the service's log tells a secret")
		}
	}
}
