package manifest_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// siteCases are small sites for the codes that no case of testdata/cases.txt reports.
func siteCases() map[string]fstest.MapFS {
	const clubhouse = `{"assets":"p","routes":[{"pattern":"/club/*","access":"members"}]}`
	const assets, migrations = `{"assets":"p"}`, `{"bindings":{"database":{"migrations":"m"}}}`
	named := func(name string) fstest.MapFS { return site(assets, "p/"+name, "") }
	return map[string]fstest.MapFS{
		"file-missing":    tree(map[string]string{"x": ""}),
		"file-too-large":  site(strings.Repeat(" ", 256<<10) + "{}"),
		"path-not-found":  site(`{"entry":"w.js"}`),
		"path-wrong-kind": site(`{"entry":"src"}`, "src/", ""),
		"path-symlink":    linked(site(`{"entry":"w.js"}`), "w.js", "../w.js"),
		"path-unreadable": piped(site(assets), "p/.assetsignore"),
		"asset-count":     site(assets, crowd(100_000)...),
		"asset-members-text": site(clubhouse, "p/club/a.html", "<p>The boat house key hangs behind the blue door.", "p/a.js",
			"The boat house key hangs behind the blue door."),
		"asset-secret":         site(assets, "p/old.txt", "-----BEGIN PRIVATE KEY-----\n"),
		"asset-too-large":      site(assets, "p/v.mp4", strings.Repeat("v", limits.MaxFileBytes+1)),
		"assets-too-many":      site(assets, crowd(limits.MaxFiles+1)...),
		"asset-renamed":        site(assets, "p/e\u0301.html", ""),
		"asset-source":         site(`{"entry":"w.js","assets":"."}`, "w.js", ""),
		"route-uncovered":      site(`{"assets":"p","routes":[{"pattern":"/a","access":"members"}]}`, "p/a/b.txt", "", "p/a.html", ""),
		"route-guards-nothing": site(clubhouse, "p/klub/a.txt", ""),
		"members-file-public":  site(clubhouse, "p/club/a.txt", "x", "p/a.txt", "x"),
		"flags-declared-twice": site(`{"runtime":{"compatibilityFlags":["nodejs_compat"]}}`, "wrangler.json",
			`{"compatibility_flags":["nodejs_compat"]}`),

		"runtime-config-invalid": site(`{}`, "wrangler.json", `{"a":}`),
		"form-method":            site(assets, "p/a.html", "<form action=/__pages/forms></form>"),
		"form-unreachable":       site(assets, "p/a.html", "<form method=post netlify></form>"),
		"form-encoding":          site(assets, "p/a.html", "<form method=post action=/__pages/forms enctype=text/plain></form>"),
		"form-unnamed":           site(assets, "p/a.html", "<form method=post action=/__pages/forms><input></form>"),
		"form-next":              site(assets, "p/a.html", "<form method=post action=/__pages/forms><input name=_next value=b></form>"),
		"form-undeclared":        site(assets, "p/a.html", "<form method=post action=/__pages/forms/a></form>"),
		"form-unused":            site(`{"assets":"p","forms":[{"name":"a","event":"custom.a"}]}`, "p/a.html", ""),
		"link-broken":            site(assets, "p/a.html", "<!doctype html><a href=b>"),
		"page-too-large":         site(assets, "p/a.html", "<p title='"+strings.Repeat("x", 1<<20)+"'><form>"),

		"migration-too-large":        site(migrations, "m/1.sql", strings.Repeat("-", 10<<20+1)),
		"migration-ignored":          site(migrations, "m/old/1.sql", ""),
		"migration-name-invalid":     site(migrations, "m/1.SQL", ""),
		"migration-not-text":         site(migrations, "m/1.sql", "\x00"),
		"migration-folder-empty":     site(migrations, "m/", ""),
		"path_not_nfc":               site(migrations, "m/e\u0301.sql", ""),
		"migration-down-file":        site(migrations, "m/1.down.sql", ""),
		"migration-order":            site(migrations, "m/10_b.sql", "", "m/9_a.sql", ""),
		"migration-duplicate-number": site(migrations, "m/1_a.sql", "", "m/1_b.sql", ""),
		"table-not-created":          site(`{"bindings":{"database":{"tables":["boats"]}}}`),

		"edge-rule-invalid":   site(assets, "p/_redirects", "/a\n"),
		"edge-rule-path":      site(assets, "p/_redirects", "a /b\n"),
		"edge-rule-header":    site(assets, "p/_headers", "/a\n  X-A: 1\n  Content-Length: 5\n"),
		"edge-rule-secret":    site(assets, "p/_headers", "/a\n  X-A: 1\n  Basic-Auth: anna:hunter2\n"),
		"edge-rule-reserved":  site(assets, "p/_redirects", "/a /__pages/x\n"),
		"edge-rule-loop":      site(assets, "p/_redirects", "/a /a\n"),
		"edge-rule-chain":     site(assets, "p/_redirects", inARow(21)),
		"edge-rule-alias":     site(assets, "p/a.html", "", "p/_redirects", "/b /a.html 200\n"),
		"edge-rule-hides":     site(assets, "p/a.html", "", "p/_redirects", "/a /b 200\n"),
		"edge-rule-open":      site(assets, "p/_redirects", "/x/* https://:splat/\n"),
		"edge-rule-duplicate": site(assets, "p/_redirects", "/a /b\n/a /c\n"),
		"edge-rules-too-many": site(assets, "p/_redirects", numbered("/s%d /t\n", 2001)),

		"path_not_utf8":       named("\xff"),
		"path_nul":            named("a\x00b"),
		"path_control":        named("a\nb"),
		"path_backslash":      named(`a\b`),
		"path_encoded":        named("a%2fb"),
		"path_url_char":       named("a#b"),
		"path_windows_char":   named("a:b"),
		"path_windows_name":   named("nul.txt"),
		"path_trailing":       named("a "),
		"path_too_long":       named(strings.Repeat("a", 256)),
		"path_reserved":       named("__pages/x"),
		"path_collision":      site(assets, "p/a", "", "p/A", ""),
		"path_secret":         named(".env"),
		"path_symlink_escape": linked(site(assets), "p/a", "../../a"),
		"path_symlink_loop":   linked(site(assets), "p/a", "a"),
		"path_not_regular":    piped(site(assets), "p/a"),
	}
}

// site is a manifest beside files: name, content, name, content, …
func site(text string, files ...string) fstest.MapFS {
	all := map[string]string{manifest.FileName: text}
	for i := 0; i < len(files); i += 2 {
		all[files[i]] = files[i+1]
	}
	return tree(all)
}

func linked(fsys fstest.MapFS, name, target string) fstest.MapFS {
	fsys[name] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(target)}
	return fsys
}

func piped(fsys fstest.MapFS, name string) fstest.MapFS {
	fsys[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	return fsys
}

// crowd are n public files, for site.
func crowd(n int) []string {
	files := make([]string, 0, 2*n)
	for i := range n {
		files = append(files, fmt.Sprintf("p/%d.txt", i), "")
	}
	return files
}

// neverMet are the codes that no input causes, each with the reason to keep it.
var neverMet = map[string]string{
	"secret-in-output":  "what the bundler makes is looked through",
	"secret-unsearched": "what the bundler makes is looked through",
	"secrets-file":      "the manifest's room reads no secrets",
	"invalid-value":     "the code of schema rules without a message of their own (TestUnexplained); all have one: FuzzManifest",
}

// TestEveryCode: each code has a case, so that a rule without a test fails here. Each site of siteCases reports exactly
// one problem.
func TestEveryCode(t *testing.T) {
	testmachine.Unraced(t)
	met := map[string]bool{}
	for _, c := range tableCases(t) {
		_, diags := manifest.Parse(manifest.FileName, []byte(c.source))
		for _, d := range diags {
			met[d.Code] = true
		}
	}
	for code, fsys := range siteCases() {
		if met[code] {
			t.Errorf("%s: testdata/cases.txt has a case of it already", code)
		}
		load := validate.Load
		if code == "asset-too-large" || code == "assets-too-many" {
			if _, diags := load(fsys, manifest.FileName); len(diags) > 0 {
				t.Errorf("%s: without an upload, %v", code, diags)
			}
			load = validate.LoadForUpload
		}
		_, diags := load(fsys, manifest.FileName)
		if len(diags) == 0 {
			t.Errorf("%s: the site has no fault", code)
		}
		for _, d := range diags {
			if d.Code != code || d.Message == "" || d.Fix == "" {
				t.Errorf("%s: %+v", code, d)
			}
			met[d.Code] = true
		}
	}
	for _, r := range diagnostic.Rules() {
		if met[r.Code] != (neverMet[r.Code] == "") {
			t.Errorf("%s: a case leads to it: %v, listed as never met: %q", r.Code, met[r.Code], neverMet[r.Code])
		}
	}
}

// TestManyWrongFiles lists the first of the public files that cannot be served, and counts the rest.
func TestManyWrongFiles(t *testing.T) {
	const listed, more = 10_000, 7
	files := make([]string, 0, 2*(listed+more))
	for i := range listed + more {
		files = append(files, fmt.Sprintf("p/%d#.txt", i), "")
	}
	_, diags := validate.Load(site(`{"assets":"p"}`, files...), manifest.FileName)
	counts := map[string]int{}
	for _, d := range diags {
		counts[d.Code]++
		if d.Code == "asset-count" && (d.Severity != diagnostic.Error || d.Message != "7 more public files cannot be served") {
			t.Errorf("%+v", d)
		}
	}
	if counts["path_url_char"] != listed || counts["asset-count"] != 1 || len(counts) != 2 {
		t.Errorf("got %v", counts)
	}
}

// inARow are n redirects, each to the next.
func inARow(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "/s%d /s%d\n", i, i+1)
	}
	return b.String()
}
