//go:build browser

package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// tunnel acts as a tunnel: it forwards requests to the dev server with the headers that tunnels add.
func tunnel(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // the host is that of the dev server, as with ngrok's --host-header
			r.Out.Header.Set("X-Forwarded-For", "203.0.113.9")
			r.Out.Header.Set("X-Forwarded-Host", r.In.Host)
			r.Out.Header.Set("X-Forwarded-Proto", "http")
		},
	})
	t.Cleanup(server.Close)
	return server.URL
}

var shownCode = regexp.MustCompile(`browser 1 .* sign in with: ([0-9]{4} [0-9]{4}),`)

// TestBrowserPairing: through a tunnel, a browser asks for the code that the terminal shows, and then for a persona; its pages reload, and
// reveal nothing about a failed build.
func TestBrowserPairing(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"))
	at := tunnel(t, d.URL)
	p := page{t, testmachine.Browser(t)}
	p.do("members page", chromedp.Navigate(at+"/minutes/"))
	p.holds(`location.pathname === "/__pages/sign-in" && document.activeElement.id === "code"`)
	p.text("for browser 1, which is this one")
	p.shot("pairing")
	p.do(
		"in dark",
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		}),
	)
	p.shot("pairing-dark")
	p.do("a wrong code", chromedp.SendKeys("#code", "1"), chromedp.Submit("#code"))
	p.text("That is not the code, 4 tries are left.")
	p.shot("pairing-wrong")
	d.eventually("the code is shown", func() bool { return shownCode.MatchString(d.stderr.String()) })
	p.do("the code", chromedp.SendKeys("#code", shownCode.FindStringSubmatch(d.stderr.String())[1]), chromedp.Submit("#code"))
	p.text("Robin Member")
	p.shot("pairing-personas")
	p.do("sign in", chromedp.Click(`button[value="member"]`))
	p.holds(`location.pathname === "/minutes/" && document.title !== ""`)
	p.text("Minutes")

	p.do("about", chromedp.Navigate(at+"/about"), p.evaluate(`window.mark = "still here"`))
	d.edit("src/worker.ts", "const app = new Hono<AppEnv>();", "const app = new Hono<AppEnv>(;")
	d.eventually("the build failed", func() bool { return regexp.MustCompile("the build failed").MatchString(d.stderr.String()) })
	d.edit("public/css/site.css", "body", "h1 { letter-spacing: 7px !important } body")
	d.edit("src/worker.ts", "const app = new Hono<AppEnv>(;", "const app = new Hono<AppEnv>();")
	p.holds(`getComputedStyle(document.querySelector("h1")).letterSpacing === "7px"`)
	p.holds(`!document.querySelector("pages-problems")`)
	if got := d.get("/__pages/", "X-Forwarded-For: 203.0.113.9"); got.StatusCode != http.StatusNotFound {
		t.Errorf("the dashboard through a tunnel: %d", got.StatusCode)
	}
}
