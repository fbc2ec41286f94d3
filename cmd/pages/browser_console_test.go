//go:build browser

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserConsole: a person signs in, sees the proposals of an agent, and decides.
func TestBrowserConsole(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p := page{t, testmachine.Browser(t)}
	propose := func(tool, body string) string {
		t.Helper()
		_, text, err := s.call(s.Keys["service"], tool, body)
		var proposal struct {
			ID string `json:"confirmation_id"`
		}
		if err != nil || json.Unmarshal([]byte(text), &proposal) != nil || proposal.ID == "" {
			t.Fatalf("%s %v", text, err)
		}
		return proposal.ID
	}
	live := func() string {
		t.Helper()
		_, text, err := s.call(s.Keys["member"], "page.list", "")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(text, `"hostname":"demo-home.localhost","live_revision":"`)
		revision, _, _ := strings.Cut(rest, `"`)
		return revision
	}

	p.do("the console", chromedp.Navigate(s.URL+"/"))
	p.text("Sign in")
	p.do("a wrong key", chromedp.SendKeys(`#key`, "pgk_wrong"), chromedp.Click(`main button`))
	p.text("This key is unknown, revoked or expired.")
	p.shot("console-sign-in")
	p.do("a good one", chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	p.text("Acme Studio")
	p.holds(`document.cookie === ""`) // no script may read it
	p.do("the workspace", chromedp.Click(`main h2 a`))
	p.text("No proposal needs approval.")

	was := live()
	id := propose("page.publish", `{"site_id":"`+s.Demo["site_id"]+`"}`)
	p.text("Something changed.") // the script polls
	p.do("show it", chromedp.Click(`#fresh a`))
	p.text("Deploy bot")
	p.text(s.Demo["site_id"])
	p.text("What demo-home.localhost serves")
	p.text("which is live now:")
	p.text("Who may see what")
	p.holds(`/^in 1[45] min \d\d s$/.test(document.querySelector("[data-expires]").textContent)`)
	p.shot("console-proposal")
	p.onPhone(s)
	if live() != was {
		t.Fatal("a proposal changed something")
	}
	p.do("approve", chromedp.Click(`form[action$="`+id+`/approve"] button`))
	p.text("Done.")
	p.text("No proposal needs approval.")
	if now := live(); now == was || !strings.HasPrefix(now, "r3-") {
		t.Errorf("live is %s, was %s", now, was)
	}

	// Without JavaScript.
	id = propose("domain.point_at_site", `{"domain_id":"`+s.Demo["domain_id"]+`","site_id":"`+s.Demo["other_site_id"]+`"}`)
	p.do("without scripts",
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(s.URL+"/console/w/acme/proposals"),
		chromedp.Click(`form[action$="`+id+`/lapse"] button`), chromedp.WaitVisible(`.notice.plain[role="status"] strong`))
	p.do(
		"with scripts", command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}),
		chromedp.Navigate(s.URL+"/console/w/acme/audit"),
	)
	p.text("Rejected: Point www.acme.example at site")
	p.shot("console-audit")

	for path, part := range map[string]string{"content": "variants in progress", "week": "planned", "sites": "Last went live"} {
		p.do(path, chromedp.Navigate(s.URL+"/console/w/acme/"+path))
		p.text(part)
		p.holds(`document.documentElement.scrollWidth <= innerWidth`) // wide tables scroll by themselves
		p.shot("console-" + path)
	}
	p.do(
		"the keys", chromedp.Navigate(s.URL+"/console/keys"), chromedp.SendKeys(`#name`, "Laptop"),
		chromedp.Click(`form[action="/console/keys"] button`),
	)
	p.text("It is shown only once")
	p.holds(`/^pgk_[a-z0-9]{52}$/.test(document.querySelector("#made").textContent)`)
	p.holds(`document.documentElement.scrollWidth <= innerWidth`)
	p.shot("console-keys")
	p.do(
		"in the dark",
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		}),
	)
	p.holds(`getComputedStyle(document.body).backgroundColor === "rgb(20, 22, 26)"`)
	p.shot("console-dark")
	p.do("sign out", chromedp.Click(`header form button`))
	p.holds(`document.querySelector("input[type=password]") && !document.querySelector("header form button")`)
	p.do("the page from before", chromedp.Navigate(s.URL+"/console/w/acme/audit"))
	p.text("API key")
}

// TestBrowserConsoleSpam: a person sees the spam of a published site, and moves it.
func TestBrowserConsoleSpam(t *testing.T) {
	s := newMailedSite(t, "")
	s.post("buy our pills at https://a.test https://b.test https://c.test", "_gotcha", "x")
	s.post("a boat for two")
	s.leadsOf(t, s.site, 1)
	p := page{t, testmachine.Browser(t)}
	p.do("the console", chromedp.Navigate(s.URL+"/"), chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	p.text("Acme Studio")
	p.do("the leads", chromedp.Navigate(s.URL+"/console/w/acme/leads"))
	p.text("a boat for two")
	p.holds(`!document.body.innerText.includes("pills")`)
	p.do("the spam", chromedp.Click(`main > p a`))
	p.text("buy our pills")
	p.text(`the hidden field "_gotcha" has a value`)
	p.shot("console-spam")
	p.do("a phone", chromedp.EmulateViewport(390, 844))
	p.holds(`innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth`)
	p.shot("console-spam-phone")
	p.do("no spam", chromedp.Click(`tbody form button`))
	p.text("No spam.")
	p.do("the leads", chromedp.Click(`main > p a`))
	p.text("buy our pills")
	p.text("custom.contact")
	p.shot("console-leads-phone")

	// Signed out, Back shows no page of the console, not even the first one after signing in.
	signOut := func() {
		p.holds(loaded)
		p.do("sign out", chromedp.Click(`header form button`))
		p.holds(`location.pathname === "/" && document.title.startsWith("Sign in") && ` + loaded)
	}
	signOut()
	p.do("the audit trail", chromedp.Navigate(s.URL+"/console/w/acme/audit"), chromedp.SendKeys(`#key`, s.Keys["member"]),
		chromedp.Click(`main button`))
	p.text("Audit trail")
	signOut()
	p.do("back", p.evaluate(`history.back(); ""`))
	p.holds(`location.pathname.startsWith("/console/w/") && document.title.startsWith("Sign in")`)
}

// onPhone visits every view of the console on a phone, with unusual names: nothing is wider than the screen. It ends with the proposals,
// where it began.
func (p page) onPhone(s *platformRun) {
	p.t.Helper()
	for i, name := range []string{
		"صفحة الهبوط 🎉 of a very long name that was never tried on a screen",
		"<b>Supercalifragilisticexpialidociouswithoutaspace</b>",
	} {
		if _, text, err := s.call(
			s.Keys["member"], "page.create", fmt.Sprintf(`{"name":%q,"idempotency_key":"%d"}`, name, i),
		); err != nil || !strings.Contains(text, `"ok":true`) {
			p.t.Fatalf("%s %v", text, err)
		}
	}
	p.do(
		"a phone",
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: 390, Height: 844, DeviceScaleFactor: 1,
		}),
	)
	for _, view := range []string{
		"/", "/console/keys", "/console/w/acme/content", "/console/w/acme/week", "/console/w/acme/leads",
		"/console/w/acme/audit", "/console/w/acme/sites", "/console/w/acme/sites/" + s.Demo["site_id"] + "/settings",
		"/console/w/acme/proposals",
	} {
		p.do(view, chromedp.Navigate(s.URL+view))
		p.holds(
			`document.readyState === "complete" && document.querySelector("h1") && innerWidth === 390 && ` +
				`document.documentElement.scrollWidth <= innerWidth`,
		)
	}
	p.shot("console-phone")
	p.do("a desk", command(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
}

// command is a command of the browser's protocol as a step of p.do.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}
