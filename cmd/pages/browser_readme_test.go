//go:build browser

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserReadme takes the two pictures that README.md shows, with the files of -screenshots: of the output of `pages dev` in a
// terminal, and of its dashboard.
func TestBrowserReadme(t *testing.T) {
	sites, err := os.MkdirTemp("", "sites-") //nolint:usetesting // its name is in the picture
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sites) })
	dir := filepath.Join(sites, "riverside")
	if err := copyTo(dir, "riverside"); err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join(dir, "node_modules")
	if target, err := filepath.EvalSymlinks(packages); err != nil {
		t.Fatal(err)
	} else if err := errors.Join(os.Remove(packages), os.CopyFS(packages, os.DirFS(target))); err != nil {
		t.Fatal(err) // named as their author has them: frames show their paths
	}
	d := startDev(t, dir, "--color", "always", "--port", "8788")
	for _, path := range []string{"/", "/css/site.css", "/api/outings"} {
		d.expect(d.get(path), 200, "")
	}
	d.expect(d.get("/minutes/", "Accept: text/html"), 303, "")
	const form = "name=Ada+Lovelace&email=ada%40example.org&experience=some"
	d.expect(
		d.do("POST", "/__pages/forms/membership", form, "Content-Type: application/x-www-form-urlencoded", "Accept: text/html"),
		303, "",
	)
	d.expect(d.get("/api/boom", "Accept: text/html"), 500, "")
	d.eventually("the last request is shown", func() bool { return strings.Contains(d.stderr.String(), "GET /api/boom") })

	p := page{t, testmachine.Browser(t)}
	p.do("a desk", chromedp.EmulateViewport(1200, 1000, chromedp.EmulateScale(1.5)), chromedp.Navigate(d.URL+"/__pages/"))
	p.text("ada@example.org")
	p.text("/api/boom")
	p.picture("readme-dashboard")

	// On a terminal stdout and stderr are one: the address comes before the bindings.
	before, after, found := strings.Cut(d.stderr.String(), "  DB ")
	if !found {
		t.Fatalf("no bindings in %q", d.stderr)
	}
	p.do("a terminal", chromedp.Navigate("about:blank"), p.evaluate(driverFile(t, "@xterm", "xterm", "lib", "xterm.js")+"\n``"))
	p.do("what it shows", p.evaluate(`(({ css, text }) => {
		document.head.append(Object.assign(document.createElement("style"),
			{ textContent: css + "body { margin: 0; background: #16181d } #terminal { padding: 18px } " +
				".xterm .xterm-viewport, .scrollbar { display: none }" }));
		const terminal = new Terminal({ cols: 116, rows: text.split("\n").length + 1, convertEol: true, disableStdin: true,
			fontFamily: "monospace", fontSize: 15,
			theme: { background: "#16181d", foreground: "#d8dee6", red: "#ff7b85", green: "#7fd18c", yellow: "#e6c07b",
				cyan: "#6ac8d8" } });
		terminal.open(document.body.appendChild(Object.assign(document.createElement("div"), { id: "terminal" })));
		terminal.write(text, () => { window.written = true; });
		return "";
	})(`+scriptOf(map[string]string{
		"css":  driverFile(t, "@xterm", "xterm", "css", "xterm.css"),
		"text": "$ pages dev\n" + before + "ready " + d.URL + "\n  DB " + strings.TrimRight(after, "\n"),
	})+`)`))
	p.holds(
		`window.written && [...document.querySelectorAll(".xterm-rows > div")].some((row) => row.textContent.includes("return ` +
			`strokes.length / last.at;"))`,
	)
	size, err := chromedp.Run(
		p.ctx,
		chromedp.Evaluate[[]int64](
			`(({ width, height }) => [Math.ceil(width) + 36, Math.ceil(height) + `+
				`36])(document.querySelector(".xterm-screen").getBoundingClientRect())`,
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	p.do("as large as it is", chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateScale(1.5)))
	p.picture("readme-terminal")
}

// picture saves a screenshot of the window for a document.
func (p page) picture(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// driverFile is a file of the packages that drive a browser.
func driverFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "testdata", "sites", "playwright", "node_modules"}, path...)...))
	if err != nil {
		t.Fatal("the browser tests need it: make browser brings it: ", err)
	}
	return string(text)
}

// scriptOf is a value as JavaScript.
func scriptOf(value any) string {
	text, _ := json.Marshal(value) // strings never fail
	return string(text)
}
