//go:build browser

package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserRestore: a person finds the restore point from before a bad revision in the console, chooses tables, or all, sees
// the data that the restore discards, and restores it.
func TestBrowserRestore(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p := page{t, testmachine.Browser(t)}
	site := s.Demo["unpublished_site_id"]
	const manifest = `{"assets":"public","bindings":{"database":{"migrations":"m"}}}`
	files := map[string]string{
		"public/index.html": "<!doctype html><title>one</title>",
		"m/0001.sql": "CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT); INSERT INTO people(email) VALUES ('a'), ('b'); " +
			"CREATE TABLE orders(id INTEGER PRIMARY KEY, of); INSERT INTO orders(of) VALUES (1), (2)",
	}
	first := s.ship(t, site, manifest, files)
	files["m/0002.sql"] = "-- pages: loses people\nDELETE FROM people;\nCREATE TABLE notes(x); INSERT INTO notes VALUES (1), (2), (3);\n" +
		"-- pages: loses orders\nDELETE FROM orders; INSERT INTO orders VALUES (7, 7)"
	s.ship(t, site, manifest, files)

	p.do("the console", chromedp.Navigate(s.URL+"/"), chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	p.text("Acme Studio")
	points := "/console/w/acme/sites/" + site + "/points"
	p.do("the sites", chromedp.Navigate(s.URL+"/console/w/acme/sites"), chromedp.Click(`a[href="`+points+`"]`))
	p.text("A restore point is the site's database at one moment.")
	p.text("at most 110 points")
	p.text("4 rows in 2 tables")
	p.holds(`document.querySelector("nav a[aria-current]").innerText === "Sites"`)
	p.shot("restore-points")
	p.do("open it", chromedp.Click(`a[href="`+points+`/p1"]`))
	p.text("Restore point p1")
	p.holds(`document.querySelector("nav a[aria-current]").innerText === "Sites"`)
	p.holds(`[...document.querySelectorAll("tbody tr")].map((r) => [...r.cells].map((c) => c.innerText.trim()).join(" ")).join("; ") ===
		"notes only with the whole database 3 no such table; orders 1 2; people 0 2"`)
	p.shot("restore-point")
	phone := emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1}
	p.do("a phone", command(emulation.SetDeviceMetricsOverride, phone))
	p.holds(`document.documentElement.scrollWidth <= innerWidth`)
	p.holds(`[...document.querySelectorAll("select")].every((s) => s.getBoundingClientRect().right < innerWidth - 30)`)
	p.shot("restore-point-phone")
	p.do(
		"in the dark",
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		}),
	)
	p.shot("restore-point-dark")

	p.do("choose tables",
		chromedp.Click(`input[value="people"]`), chromedp.Click(`input[value="orders"]`), chromedp.Click(`main form button`))
	p.text("Restore the rows of orders, people of site")
	p.text("The rows of orders, people, of demo-new.localhost")
	p.holds(`!document.body.innerText.includes("notes loses")`)
	p.text("Data is lost:")
	p.text("orders loses 1 row")
	p.shot("restore-tables")
	p.do("reject it", chromedp.Click(`form[action$="/lapse"] button`))
	p.text("Rejected. Nothing changed.")

	p.do("all of it", chromedp.Navigate(s.URL+points+"/p1"), chromedp.Click(`main form button`))
	p.text("to restore point p1")
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
