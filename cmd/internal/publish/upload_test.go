package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/validate"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// TestSentFiles: the files of rules are sent, although they are not static files.
func TestSentFiles(t *testing.T) {
	site := sent(t, map[string]string{
		"pages.deploy.json": `{"assets": "public"}`, "_headers": "no asset",
		"public/index.html": "<h1>Home</h1>", "public/_redirects": "/old / 301\n", "public/_headers": "/*\n  X-Frame-Options: DENY\n",
	})
	var names []string
	for _, f := range site.Files {
		names = append(names, f.Path)
	}
	if want := []string{"public/_headers", "public/_redirects", "public/index.html"}; !slices.Equal(names, want) {
		t.Errorf("sent %q, want %q", names, want)
	}
}

// TestSentManifest: an empty folder, which the service refuses, does not stop a publish.
func TestSentManifest(t *testing.T) {
	site := sent(t, map[string]string{
		"pages.deploy.json": `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}, "kv": {}}, ` +
			`"routes": [{"pattern": "/x"}], "entry": "w.js"}`,
		"w.js": "export default { fetch() { return new Response('') } }", "public/.assetsignore": "", "migrations/README": "",
	})
	const want = `{"bindings":{"database":{},"kv":{"name":"KV"},"projectDatabase":"none"},"entry":"_worker/worker.js",` +
		`"limits":{"cpuMs":10000,"subRequests":20},"routes":[{"access":"public","pattern":"/x"}]}`
	if got := string(site.Manifest); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSentAfterALink: at the last moment a link replaces a built file. No request has the bytes of its target.
func TestSentAfterALink(t *testing.T) {
	site := sent(
		t,
		map[string]string{
			"pages.deploy.json": `{"assets": "public"}`,
			"public/index.html": "<h1>Home</h1>",
			".dev.vars":         "canary-5d1c7e90b2af",
		},
	)
	f := site.Files[0]
	file := filepath.Join(site.root.Name(), "public", "index.html")
	opened, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(opened.Close(), os.Remove(file), os.Symlink("../.dev.vars", file)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(); err == nil {
		t.Error("the secrets were opened")
	}
	if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte("<h1>Again</h1>"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if opened, err = f.Open(); err != nil {
		t.Error("a file that was saved again:", err)
	} else if err := opened.Close(); err != nil {
		t.Error(err)
	}
}

// TestPlanOfLeftOut: a plan names the files that it leaves out; of many it names the first ones.
func TestPlanOfLeftOut(t *testing.T) {
	files := map[string]string{
		"pages.deploy.json": `{"assets": "public"}`, "public/index.html": "", "public/.hidden": "", "public/.well-known/security.txt": "",
		"public/node_modules/a/b.js": "", "public/draft.html": "", "public/.assetsignore": "draft.html",
	}
	lines := func(all bool) string {
		site := sent(t, files)
		p, err := deploy.Compare(deploy.Live{}, site.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, l := range planLines(&p, all) {
			text = append(text, l.text)
		}
		return strings.Join(text, "\n")
	}
	const few = "4 left out, not visible to visitors: public/.assetsignore (hidden), public/.hidden (hidden), " +
		"public/draft.html (ignored), public/node_modules/ (hidden)"
	if got := lines(false); !strings.HasSuffix(got, few) || !strings.Contains(got, "+ public/.well-known/security.txt") {
		t.Errorf("got\n%s", got)
	}
	for i := range 20 {
		files[fmt.Sprintf("public/.%02d", i)] = ""
	}
	if got := lines(false); !strings.Contains(got, "24 left out") || !strings.Contains(got, "and 14 more (--verbose lists them)") {
		t.Errorf("got\n%s", got)
	}
	if got := lines(true); !strings.Contains(got, "public/.19 (hidden)") {
		t.Errorf("got\n%s", got)
	}
}

// TestPlanOfSourceMaps: a plan names the source maps that become public, and none that is members only or live already.
func TestPlanOfSourceMaps(t *testing.T) {
	site := sent(t, map[string]string{
		"pages.deploy.json": `{"assets": "public", "routes": [{"pattern": "/club/*", "access": "members"}]}`, "public/index.html": "",
		"public/app.js": "1", "public/app.js.map": "{}", "public/old.css.map": "{}",
		"public/club/app.js.map": "{}", "public/map.html": "", "public/.hidden.map": "{}",
	})
	live := deploy.Live{Revision: "r1-0", Known: true, Files: map[string]toolapi.UploadFile{"public/old.css.map": {}}}
	p, err := deploy.Compare(live, site.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.SourceMaps, " "); got != "public/app.js.map" {
		t.Errorf("got %q", got)
	}
	const line = "source maps, which show everyone the sources of scripts (.assetsignore with *.map leaves them out): public/app.js.map"
	if !slices.ContainsFunc(planLines(&p, false), func(l planLine) bool { return l.text == line }) {
		t.Errorf("no line %q", line)
	}
}

// TestPlanOfMigrations: a plan does not promise to run a migration that the database may have already.
func TestPlanOfMigrations(t *testing.T) {
	for live, want := range map[string]string{
		"": "migrations that run before it goes live: 0001_a.sql",
		"r1-0": "migrations that are not live yet " +
			"(each runs before it goes live, unless the database has it): 0001_a.sql",
	} {
		p := deploy.Plan{Live: live, Known: true, Changes: true, Migrations: []string{"0001_a.sql"}}
		if lines := planLines(&p, false); lines[len(lines)-1].text != want {
			t.Errorf("got %q, want %q", lines[len(lines)-1].text, want)
		}
	}
}

// sent returns the upload of a site with these files.
func sent(t *testing.T, files map[string]string) *upload {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, diags := validate.Load(os.DirFS(dir), "pages.deploy.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	o := DeployOptions{
		Remote: remote.Options{
			Term: &terminal.Terminal{Dir: dir, Now: time.Now, Stdout: io.Discard, Stderr: io.Discard},
			Dir:  dir,
		}, Manifest: m,
		NewBuilder: func(context.Context) (*bundler.Builder, error) {
			return bundler.New(dir, bundler.Options{Now: time.Now, Secrets: func() *secretscan.Set { return nil }}), nil
		},
	}
	site, err := o.build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.close)
	return site
}
