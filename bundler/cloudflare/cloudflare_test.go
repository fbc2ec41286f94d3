package cloudflare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// built builds a site of these files.
func built(t *testing.T, files map[string]string) (*bundler.Bundle, *manifest.Manifest) {
	t.Helper()
	return builtBy(t, files, bundler.Options{})
}

func builtBy(t *testing.T, files map[string]string, o bundler.Options) (*bundler.Bundle, *manifest.Manifest) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, diags := validate.Load(os.DirFS(dir), manifest.FileName)
	if m == nil {
		t.Fatal(diags)
	}
	b := bundler.New(dir, o)
	t.Cleanup(b.Close)
	bundle, diags := b.Build(t.Context(), m)
	if bundle == nil {
		t.Fatal(diags)
	}
	return bundle, m
}

var club = map[string]string{
	"pages.deploy.json": `{"entry":"w.js","assets":"public","routes":[{"pattern":"/api/*"},{"pattern":"/club/*","access":"members"}],
		"bindings":{"database":{"migrations":"sql"},"projectDatabase":"read","kv":{"name":"CACHE"},
		"storage":{"name":"FILES"},"images":true,"secrets":["API_KEY"],"submissions":"enquiries"},
		"limits":{"cpuMs":50},"runtime":{"compatibilityFlags":["nodejs_compat"],"compatibilityDate":"2026-11-02"},
		"forms":[{"name":"a","event":"custom.a"}]}`,
	"w.js": "export default {fetch: () => new Response('x')}", "public/index.html": "", "public/404.html": "",
	"public/club/index.html": "", "public/club/404.html": "",
	"sql/0001_a.sql": "CREATE TABLE enquiries (id);", "sql/0002_b.sql": "SELECT 1;",
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func readProject(t *testing.T, dir string) config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err = hujson.Standardize(text)
	if err != nil {
		t.Fatal(err)
	}
	var c config
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// A Worker that is not bundled may have modules with the names of the front door's.
func TestWriteAsIs(t *testing.T) {
	b, m := builtBy(t, map[string]string{
		"pages.deploy.json": `{"entry":"dist/worker.js","routes":[{"pattern":"/api/*","access":"members"}]}`,
		"dist/worker.js": `import { a } from "./index.js"; import { b } from "./lib/members.js"; export class Kept {}
export default { fetch: () => new Response(a + b) };`,
		"dist/index.js": `export const a = "index of the site";`, "dist/lib/members.js": `export const b = "members of the site";`,
	}, bundler.Options{NoBundle: func(string, string) bool { return true }})
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Write(b, m, dir, Options{Name: "asis", SessionKey: "key"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"src/answers.js", "src/config.js", "src/forms.js", "src/index.js", "src/members.js", "src/paths.js", "src/readings.js",
		"src/rows.js", "src/site/index.js", "src/site/lib/members.js", "src/site/worker.js", "src/site.js",
	}
	got := slices.DeleteFunc(names(t, dir), func(name string) bool { return !strings.HasPrefix(name, "src/") })
	if !slices.Equal(got, want) {
		t.Errorf("files %q\nwant %q", got, want)
	}
	for name, part := range map[string]string{
		"src/index.js": "the members gate comes first", "src/site/index.js": "index of the site",
		"src/site.js": "export * from \"./site/worker.js\";\nexport { default } from \"./site/worker.js\";\n",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s: %q, %v, without %q", name, text, err, part)
		}
	}
}

func TestWrite(t *testing.T) {
	b, m := built(t, club)
	dir := filepath.Join(t.TempDir(), "out")
	write := func() error {
		left, err := Write(b, m, dir, Options{Name: "club", SessionKey: "key"})
		if len(left) != 4 || !strings.Contains(left[0], "the spam filter and proofs of work are left out") ||
			!strings.Contains(left[1], "mail to the owner") || !strings.Contains(left[2], "files that visitors send") ||
			!strings.Contains(left[3], "the table enquiries refuses") {
			t.Errorf("left out: %q", left)
		}
		return err
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		".dev.vars", ".gitignore", ".pages-output", "README.md", "migrations/0001_a.sql", "migrations/0002_b.sql", "package.json",
		"platform-migrations/0001_leads_and_events.sql",
		"public/404.html", "public/club/404.html", "public/club/index.html", "public/index.html",
		"src/answers.js", "src/config.js", "src/forms.js", "src/index.js", "src/members.js", "src/paths.js", "src/readings.js",
		"src/rows.js", "src/site.js",
		"src/worker.js.map", "wrangler.jsonc",
	}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %q\nwant %q", got, want)
	}
	c := readProject(t, dir)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"name":"club","main":"src/index.js","compatibility_date":"2026-11-02","compatibility_flags":["nodejs_compat"]`,
		`"run_worker_first":true`,
		`{"binding":"DB","database_name":"club","migrations_dir":"migrations"},{"binding":"PROJECT_DB",` +
			`"database_name":"club-project"},{"binding":"PAGES_DB","database_name":"club-platform","migrations_dir":"platform-migrations"}`,
		`"kv_namespaces":[{"binding":"CACHE"}],"r2_buckets":[{"binding":"FILES"}],"images":{"binding":"IMAGES"},"limits":{"cpu_ms":50}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the configuration lacks %s\n%s", part, text)
		}
	}
	front, err := os.ReadFile(filepath.Join(dir, "src", "config.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"/club/index.html"`, `"/club"`, "\"folder\": \"/club\",\n      \"guarded\": true",
		`"submissions": "enquiries"`,
	} {
		if !strings.Contains(string(front), part) {
			t.Errorf("config.js lacks %s\n%s", part, front)
		}
	}

	// Ids of the account and edits by hand stay; generated parts are new.
	c.Databases[0].ID, c.KV[0].ID, c.Name, c.Vars[accessTeam] = "11", "22", "the-club", "rowers"
	edited, err := c.text()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		configFile: string(edited), ".dev.vars": "API_KEY=mine", "public/old.html": "",
		"node_modules/x/y": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	again := readProject(t, dir)
	if again.Databases[0].ID != "11" || again.KV[0].ID != "22" || again.Name != "the-club" || again.Vars[accessTeam] != "rowers" {
		t.Errorf("an edited part is gone: %+v", again)
	}
	vars, err := os.ReadFile(filepath.Join(dir, ".dev.vars"))
	got := names(t, dir)
	if err != nil || string(vars) != "API_KEY=mine" || !slices.Contains(got, "public/old.html") ||
		!slices.Contains(got, "node_modules/x/y") {
		t.Errorf("%v: .dev.vars %q, files %q", err, vars, got)
	}
}

// TestWriteAgain replaces the files of an earlier output, and no others.
func TestWriteAgain(t *testing.T) {
	before, m := built(t, map[string]string{
		"pages.deploy.json": `{"assets":"public"}`, "public/index.html": "1", "public/a/b/old.html": "1", "public/same.html": "1",
	})
	after, _ := built(t, map[string]string{
		"pages.deploy.json": `{"assets":"public"}`, "public/index.html": "2", "public/new.html": "2", "public/same.html": "1",
	})
	dir := t.TempDir()
	if _, err := Write(before, m, dir, Options{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	mine := map[string]string{"public/a/mine.txt": "mine", "src/mine.js": "mine", "migrations/9_mine.sql": "mine"}
	for name, text := range mine {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Write(after, m, dir, Options{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	got := names(t, dir)
	for name, text := range mine {
		if found, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(found) != text {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
	if slices.Contains(got, "public/a/b/old.html") || !slices.Contains(got, "public/new.html") ||
		!slices.Contains(got, "public/same.html") {
		t.Errorf("files %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "public", "a", "b")); err == nil {
		t.Error("an empty folder stays")
	}

	// A foreign file with the name of one of ours stays, and nothing is written.
	if err := os.WriteFile(filepath.Join(dir, "public", "a", "b"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	third, _ := built(t, map[string]string{"pages.deploy.json": `{"assets":"public"}`, "public/index.html": "3", "public/a/mine.txt": "3"})
	_, err := Write(third, m, dir, Options{Name: "x"})
	if ours, ok := errors.AsType[NotOursError](err); !ok || ours.File != "public/a/mine.txt" {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "public", "index.html")); string(text) != "2" {
		t.Errorf("it was written to: %q", text)
	}
}

func TestWriteRefuses(t *testing.T) {
	b, m := built(t, map[string]string{"pages.deploy.json": `{"assets":"public"}`, "public/index.html": ""})
	dir := t.TempDir()
	file := filepath.Join(dir, configFile)
	for _, text := range []string{"{}", "// Generated by `pages build --target cloudflare` {"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Write(b, m, dir, Options{Name: "x"})
		if err == nil || (text == "{}") != errors.As(err, new(NotOursError)) {
			t.Errorf("%q: %v", text, err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{configFile}) {
			t.Errorf("%q was written to: %q", text, got)
		}
	}
}

// TestWriteThroughLinks writes again to a folder that came with the site: no link in it leads the text elsewhere.
func TestWriteThroughLinks(t *testing.T) {
	b, m := built(t, map[string]string{"pages.deploy.json": `{"assets":"public"}`, "public/index.html": ""})
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if _, err := Write(b, m, dir, Options{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	readme := filepath.Join(dir, "README.md")
	if err := errors.Join(os.WriteFile(other, []byte("kept"), 0o644), os.Remove(readme)); err != nil {
		t.Fatal(err)
	}
	testmachine.Link(t, other, readme)
	_, err := Write(b, m, dir, Options{Name: "x"})
	if text, _ := os.ReadFile(other); err == nil || string(text) != "kept" {
		t.Errorf("%v, and the other file is %q", err, text)
	}
}

func TestMigrationNames(t *testing.T) {
	for given, want := range map[string]string{
		"0001_a.sql 0002_b.sql":            "0001_a.sql 0002_b.sql",
		"20260101_a.sql 20260102_b.sql":    "20260101_a.sql 20260102_b.sql",
		"a.sql b.sql":                      "0001_a.sql 0002_b.sql",
		"0001_a.sql 0001_b.sql":            "0001_0001_a.sql 0002_0001_b.sql",
		"10_a.sql 9_b.sql":                 "0001_10_a.sql 0002_9_b.sql",
		"1_a.sql 2_b.sql 3b.sql":           "0001_1_a.sql 0002_2_b.sql 0003_3b.sql",
		"009_a.sql 010_b.sql 0100_too.sql": "009_a.sql 010_b.sql 0100_too.sql",
	} {
		t.Run(given, func(t *testing.T) {
			var list []bundler.Migration
			for name := range strings.FieldsSeq(given) {
				list = append(list, bundler.Migration{Name: name})
			}
			if got := strings.Join(migrationNames(list), " "); got != want {
				t.Errorf("%s: %s, want %s", given, got, want)
			}
		})
	}
}

// TestPaths holds the look-up of paths in the generated Worker to the front door's own: valid paths, listed files, and members-only
// paths.
func TestPaths(t *testing.T) {
	type look struct {
		Routes []manifest.Route `json:"routes"`
		Paths  []string         `json:"paths"` // as they are in a URL
	}
	type verdict struct {
		Path   string `json:"path"` // decoded; empty for one that is refused
		Folded string `json:"folded"`
		Listed bool   `json:"listed"`
		Gated  bool   `json:"gated"`
	}
	segments := []string{
		"club", "CLUB", "club.", "club;x", "report.html", "report", "index.html", "a", "b", "é", "É", "ﬁ", "ı", "c%20d",
		"．．", "x%2fy", "%E2%81%84", "a%5cb", "100%25", "%00", "", "...", "x::y", "%EF%BC%8F", "zo\u200be",
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	var asked []look
	for range 60 {
		l := look{Routes: []manifest.Route{}}
		for range random.IntN(5) {
			pattern := "/" + pick([]string{"club", "a", "a/b", "report", "report.html", "index.html", "é", "", "club/index.html", "A"})
			if random.IntN(2) == 0 {
				pattern = strings.TrimSuffix(pattern, "/") + "/*"
			}
			access := []manifest.Access{manifest.Public, manifest.Members}[random.IntN(2)]
			l.Routes = append(l.Routes, manifest.Route{Pattern: pattern, Access: access})
		}
		for range 80 {
			path := ""
			for range 1 + random.IntN(3) {
				path += "/" + pick(segments)
			}
			if random.IntN(3) == 0 {
				path += "/"
			}
			l.Paths = append(l.Paths, path)
		}
		asked = append(asked, l)
	}
	const program = `import { foldPath, RouteTable } from "./paths.js";
import { canonical } from "./readings.js";
let text = "";
for await (const part of process.stdin) text += part;
const answers = JSON.parse(text).map(({ routes, paths }) => {
  const table = new RouteTable(routes);
  return paths.map((path) => {
    const sent = path.replace(/[^\x00-\x7f]+/gu, encodeURIComponent); // as a URL has it
    const { decoded, fault, readings } = canonical(sent);
    if (fault || readings) return { path: "" };
    return { path: decoded, folded: foldPath(decoded), listed: table.lists(decoded), gated: table.isGated(decoded) };
  });
});
console.log(JSON.stringify(answers));`
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "--eval", program)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "front", bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][]verdict
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, l := range asked {
		table := manifest.NewRouteTable(l.Routes)
		for j, path := range l.Paths {
			var want verdict
			decoded, err := url.PathUnescape(path)
			canonical, fault := sitepath.CanonicalPath(decoded)
			if err == nil && fault == "" && !strings.Contains(strings.ToLower(path), "%2f") {
				_, rank := table.Match(canonical)
				want = verdict{canonical, sitepath.FoldPath(canonical), rank > 0, table.Judge(canonical).Gated()}
			}
			seen[fmt.Sprint(want.Path != "", want.Listed, want.Gated)]++
			if got := answers[i][j]; got != want {
				t.Errorf("%s under %+v:\n got %+v\nwant %+v", path, l.Routes, got, want)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("the cases are too much alike: %v", seen)
	}
}

// TestRedirects: a rule that shows another file under a path would pass by the members gate.
func TestRedirects(t *testing.T) {
	const rules = "# ours\n/old /new 301 # moved\n/app/* /index.html 200\n/a /b\n/peek/* /club/:splat 200\n/x/* /none/index.html 200\n"
	b, m := built(t, map[string]string{"pages.deploy.json": `{"assets":"public"}`, "public/index.html": "", "public/_redirects": rules})
	dir := filepath.Join(t.TempDir(), "out")
	left, err := Write(b, m, dir, Options{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "public", "_redirects"))
	if err != nil || string(text) != "# ours\n/old /new 301 # moved\n/a /b\n" {
		t.Errorf("%v: %q", err, text)
	}
	if len(left) != 2 || !strings.Contains(left[0], `"/peek/* /club/:splat 200"`) {
		t.Errorf("left out: %q", left)
	}
	config, err := os.ReadFile(filepath.Join(dir, "src", "config.js"))
	const want = `"fallbacks": [
    {
      "folder": "/app",
      "page": "/"
    }
  ]`
	if err != nil || !strings.Contains(string(config), want) {
		t.Errorf("%v: %s", err, config)
	}
}

// The front door knows which answers the forms of the pages ask for, and which scripts of other origins may send them.
func TestFormsOfPages(t *testing.T) {
	b, m := built(t, map[string]string{
		"pages.deploy.json": `{"assets":"public","bindings":{"database":{"migrations":"sql"},"submissions":"leads"},
			"forms":[{"name":"worker","event":"custom.a"}]}`,
		"sql/0001_a.sql":    "CREATE TABLE leads (id);",
		"public/index.html": `<form method=post action=/__pages/forms/ask><input name=Email><input name=note></form>`,
		"public/_headers": "/__pages/forms/worker\n  Access-Control-Allow-Origin: https://shop.example\n" +
			"  Access-Control-Allow-Credentials: true\n",
	})
	dir := t.TempDir()
	if _, err := Write(b, m, dir, Options{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "src/config.js"))
	if err != nil {
		t.Fatal(err)
	}
	var config front
	_, object, _ := strings.Cut(string(text), "export default ")
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(object), ";")), &config); err != nil {
		t.Fatal(err)
	}
	want := map[string]origin{"/__pages/forms/worker": {"https://shop.example", true}}
	if got := fmt.Sprint(config.Asked); got != "map[ask:[email note]]" || fmt.Sprint(config.Origins) != fmt.Sprint(want) {
		t.Errorf("%s %v", got, config.Origins)
	}
}
