//go:build browser

package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserDataLoss: a person sees in the console the data that a proposal discards, confirms the loss, and approves it.
func TestBrowserDataLoss(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p := page{t, testmachine.Browser(t)}
	site := s.Demo["unpublished_site_id"]
	const manifest = `{"assets":"public","bindings":{"database":{"migrations":"m"}}}`
	files := map[string]string{
		"public/index.html": "<!doctype html><title>one</title>",
		"m/0001.sql": "CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT); " +
			"CREATE TABLE orders(id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id) ON DELETE CASCADE); " +
			"INSERT INTO people(email) VALUES ('a'), ('b'); INSERT INTO orders(person) VALUES (1), (2), (2)",
	}
	call := func(tool, body string) string {
		t.Helper()
		_, text, err := s.call(s.Keys["member"], tool, body)
		if err != nil || !strings.Contains(text, `"ok":true`) {
			t.Fatalf("%s: %s %v", tool, text, err)
		}
		return text
	}
	propose := func(more string) (id string) {
		t.Helper()
		revision, err := s.upload(site, manifest, files)
		if err != nil {
			t.Fatal(err)
		}
		text := call("page.publish", `{"site_id":"`+site+`","revision":"`+revision+`"`+more+`}`)
		_, id, _ = strings.Cut(text, `"confirmation_id":"`)
		return id[:36]
	}
	approve := func(id string) string { return `form[action$="` + id + `/approve"]` }

	p.do("the console", chromedp.Navigate(s.URL+"/"), chromedp.SendKeys(`#key`, s.Keys["member"]), chromedp.Click(`main button`))
	p.text("Acme Studio")
	id := propose("")
	p.do("the first", chromedp.Navigate(s.URL+"/console/w/acme/proposals"), chromedp.Click(approve(id)+" button"))
	p.text("Done.")

	files["m/0002_rebuild.sql"] = "-- the table is made anew\nDROP TABLE people;\nCREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT)"
	id = propose(`,"allow_data_loss":["people","orders"]`)
	p.do("the second", chromedp.Navigate(s.URL+"/console/w/acme/proposals"))
	p.text("Data is lost:")
	p.text("people loses 2 rows")
	p.text("orders loses 3 rows")
	p.text("0002_rebuild.sql:2")
	p.text("DROP TABLE people")
	p.text("Approve, and lose")
	p.shot("dataloss-proposal")
	p.do("press it at once", chromedp.Click(approve(id)+" button"))
	p.holds(`document.querySelector('` + approve(id) + `').matches(":invalid")`) // the browser requires the checkbox
	phone := emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1}
	p.do("a phone", command(emulation.SetDeviceMetricsOverride, phone))
	p.holds(`document.documentElement.scrollWidth <= innerWidth`)
	p.shot("dataloss-phone")
	p.do(
		"in the dark",
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		}),
	)
	p.shot("dataloss-dark")
	p.do("tick, and approve", chromedp.Click(approve(id)+` input[type="checkbox"]`), chromedp.Click(approve(id)+" button"))
	p.text("Done.")
	text := call("page.rehearse", `{"site_id":"`+site+`","migrations":[{"name":"0003.sql","sql":"INSERT INTO people(name) VALUES ('x')"}],`+
		`"unchanged":["0001.sql","0002_rebuild.sql"]}`)
	if !strings.Contains(text, `{"table":"people","before":0,"after":1}`) {
		t.Errorf("people are left: %s", text)
	}
}
