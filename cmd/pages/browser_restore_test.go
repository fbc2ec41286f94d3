//go:build browser

package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserRestore: a person finds the restore point from before a bad revision in the console, sees what is lost by it, and
// restores it.
func TestBrowserRestore(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p := page{t, testmachine.Browser(t)}
	site := s.Demo["unpublished_site_id"]
	const manifest = `{"assets":"public","bindings":{"database":{"migrations":"m"}}}`
	files := map[string]string{
		"public/index.html": "<!doctype html><title>one</title>",
		"m/0001.sql":        "CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT); INSERT INTO people(email) VALUES ('a'), ('b')",
	}
	first := s.ship(t, site, manifest, files)
	files["m/0002.sql"] = "-- pages: loses people\nDELETE FROM people;\nCREATE TABLE notes(x); INSERT INTO notes VALUES (1), (2), (3)"
	s.ship(t, site, manifest, files)

	p.do("the console", chromedp.Navigate(s.URL+"/"), chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	p.text("Acme Studio")
	points := "/console/w/acme/sites/" + site + "/points"
	p.do("the sites", chromedp.Navigate(s.URL+"/console/w/acme/sites"), chromedp.Click(`a[href="`+points+`"]`))
	p.text("A restore point is the page's database at one moment.")
	p.text("at most 110 points")
	p.text("2 rows in 1 table")
	p.do("open it", chromedp.Click(`tbody td:last-child summary`))
	p.shot("restore-points")
	phone := emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1}
	p.do("a phone", command(emulation.SetDeviceMetricsOverride, phone))
	p.holds(`document.documentElement.scrollWidth <= innerWidth`)
	p.do("propose it", chromedp.Click(`form.restore button`))
	p.text("back to restore point p1")
	p.text("Data is lost:")
	p.text("notes loses 3 rows")
	p.text("revision " + first + ", at once")
	p.shot("restore-proposal")
	const approve = `form[action$="/approve"]`
	p.do("tick, and approve", chromedp.Click(approve+` input[type="checkbox"]`), chromedp.Click(approve+" button"))
	p.text("Done.")
	if live := s.liveOf(t, site); live != first {
		t.Errorf("%s is live, want %s", live, first)
	}
	_, text, err := s.call(s.Keys["member"], "page.restore_points", `{"site_id":"`+site+`"}`)
	if err != nil || !strings.Contains(text, `"id":"p2"`) || !strings.Contains(text, `"table":"notes","rows":3`) {
		t.Errorf("%s %v", text, err)
	}
}
