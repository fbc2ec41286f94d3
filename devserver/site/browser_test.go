//go:build browser

package site

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
)

// These tests drive a real Chromium, which not every machine has:
//
//	go test -tags browser -run Browser ./devserver/site

func until(expression string) chromedp.Action[chromedp.Void] {
	return testmachine.Until(expression, 30*time.Second)
}

// savingWorker stores the last form that it got, and shows it.
type savingWorker struct{}

func (savingWorker) Serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return echo{}.Serve(w, r)
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html")
	_, err := fmt.Fprintf(w, "<!doctype html><title>saved</title><p>%s", html.EscapeString(fmt.Sprintf("%q", r.PostForm["note"])))
	return err
}

// The fragment of an address survives sign-in without a script. After the session has ended, a form is sent again with the
// visitor's input.
func TestBrowserMembers(t *testing.T) {
	m := &manifest.Manifest{Entry: "w.js", Routes: routes("members /club/*")}
	dir, pages := folder(t, map[string]string{"/club/index.html": `<!doctype html><title>club</title>
<form method="post" action="/club/save"><textarea name="note"></textarea><button>Save</button></form>`})
	f := start(t, Options{}, Revision{Manifest: m, Assets: pages, AssetsDir: dir, Worker: savingWorker{}})
	ctx, cancel := context.WithTimeout(testmachine.Browser(t), time.Minute)
	t.Cleanup(cancel)
	do := func(what string, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	const deep = "/club/#/boats/3?x=%22"
	do("a deep link", chromedp.Navigate(f.server.URL+deep), until(`document.title === "Sign in"`))
	do("sign in", chromedp.Click(`button[value="member"]`), until(`document.title === "club"`))
	do("the fragment", until(`location.href.endsWith("`+deep+`")`))

	do("type", chromedp.SendKeys(`textarea`, "one \"two\" <b>"))
	if _, err := f.platform.Exec("DELETE FROM sessions"); err != nil {
		t.Fatal(err)
	}
	do("send", chromedp.Click(`button`), until(`document.querySelector("h1")?.textContent === "Sign in to send this"`))
	const link = `document.querySelector("a")`
	do("the way to sign in", until(link+`.target === "_blank"`), until(link+`.search === "?next=%2Fclub%2F"`))
	// In another tab, as the link says.
	tab, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	if err := chromedp.Do(
		tab, chromedp.Navigate(f.server.URL+"/__pages/sign-in?next=/club/"), chromedp.Click(`button[value="member"]`),
		until(`document.title === "club"`),
	); err != nil {
		t.Fatal(err)
	}
	do("send again", chromedp.Click(`form button`), until(`document.title === "saved"`))
	do("the answers", until(`document.querySelector("p").textContent === '["one \\"two\\" <b>"]'`))
}
