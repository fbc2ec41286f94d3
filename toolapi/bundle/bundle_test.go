package bundle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/validate"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

func file(path string) sitefile.File {
	sum := sha256.Sum256([]byte(path))
	return sitefile.File{Path: path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(path))}
}

func files(paths ...string) (all []sitefile.File) {
	for _, p := range paths {
		all = append(all, file(p))
	}
	return all
}

// code is the code of the fault, "" for none.
func code(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var fault *bundle.FaultError
	if !errors.As(err, &fault) || fault.Message == "" {
		t.Fatalf("%v is not a fault with a message", err)
	}
	return fault.Code
}

// pathCases are the family P: by id, the paths of a bundle and the code.
var pathCases = []struct {
	id, want string
	paths    []string
}{
	{"P-001", "", []string{"index.html"}},
	{"P-002", "", []string{"a/b/c.txt"}},
	{"P-003", "", []string{"\u00e9.html"}},
	{"P-004", "", []string{"日本.html"}},
	{"P-005", "", []string{"a b.html"}},
	{"P-006", "", []string{"[x].html"}},
	{"P-007", "", []string{".well-known/acme"}},
	{"P-008", "", []string{"a.b.c"}},
	{"P-010", bundle.CodeTraversal, []string{".."}},
	{"P-011", bundle.CodeTraversal, []string{"."}},
	{"P-012", bundle.CodeTraversal, []string{"a/../b"}},
	{"P-013", bundle.CodeTraversal, []string{"a/./b"}},
	{"P-014", bundle.CodeTraversal, []string{"../a"}},
	{"P-015", bundle.CodeTraversal, []string{"a/.."}},
	{"P-016", bundle.CodeTraversal, []string{"./a"}},
	{"P-017", "", []string{"\u2026"}},
	{"P-020", bundle.CodeAbsolute, []string{"/a"}},
	{"P-021", bundle.CodeAbsolute, []string{"//a"}},
	{"P-022", bundle.CodeEmpty, []string{""}},
	{"P-023", bundle.CodeEmpty, []string{"/"}},
	{"P-024", bundle.CodeEmpty, []string{"a//b"}},
	{"P-025", bundle.CodeEmpty, []string{"a/"}},
	{"P-026", bundle.CodeAbsolute, []string{"~/a"}},
	{"P-030", bundle.CodeBackslash, []string{`a\b`}},
	{"P-031", bundle.CodeBackslash, []string{`..\a`}},
	{"P-032", bundle.CodeWindowsChar, []string{"C:a"}},
	{"P-033", bundle.CodeWindowsChar, []string{"C:/a"}},
	{"P-034", bundle.CodeWindowsChar, []string{"a:b"}},
	{"P-035", bundle.CodeWindowsChar, []string{"a::$DATA"}},
	{"P-036", bundle.CodeWindowsChar, []string{"a?b"}},
	{"P-040", bundle.CodeNUL, []string{"a\x00b"}},
	{"P-041", bundle.CodeControl, []string{"a\nb"}},
	{"P-042", bundle.CodeControl, []string{"a\tb"}},
	{"P-043", bundle.CodeControl, []string{"a\x7fb"}},
	{"P-044", bundle.CodeControl, []string{"a\u0085b"}},
	{"P-045", bundle.CodeControl, []string{"a\u202eb"}},
	{"P-046", bundle.CodeControl, []string{"a\u200bb"}},
	{"P-050", bundle.CodeNotUTF8, []string{"a\xffb"}},
	{"P-051", bundle.CodeNotUTF8, []string{"a\xc0\xafb"}},
	{"P-052", bundle.CodeNotUTF8, []string{"a\xed\xa0\x80b"}},
	{"P-053", bundle.CodeNotUTF8, []string{"a\ufffdb"}},
	{"P-054", bundle.CodeNotNFC, []string{"e\u0301.html"}},
	{"P-055", bundle.CodeNotNFC, []string{"\u1112\u1161\u11ab"}},
	{"P-056", bundle.CodeNotNFC, []string{"\u212b"}},
	{"P-057", "", []string{"\ufb01"}},
	{"P-060", bundle.CodeWindowsName, []string{"CON"}},
	{"P-061", bundle.CodeWindowsName, []string{"con.txt"}},
	{"P-061", bundle.CodeWindowsName, []string{"con .txt"}},
	{"P-062", bundle.CodeWindowsName, []string{"aux.html"}},
	{"P-063", bundle.CodeWindowsName, []string{"COM1"}},
	{"P-064", bundle.CodeWindowsName, []string{"LPT9.x"}},
	{"P-065", bundle.CodeWindowsName, []string{"COM¹"}},
	{"P-066", bundle.CodeTrailing, []string{"a."}},
	{"P-067", bundle.CodeTrailing, []string{"a "}},
	{"P-068", bundle.CodeTrailing, []string{" a"}},
	{"P-069", bundle.CodeTrailing, []string{"a/b. /c"}},
	{"P-070", bundle.CodeCollision, []string{"A", "a"}},
	{"P-071", bundle.CodeNotNFC, []string{"\u00e9", "e\u0301"}},
	{"P-072", bundle.CodeCollision, []string{"ß", "SS"}},
	{"P-073", bundle.CodeCollision, []string{"\u0130", "i\u0307"}},
	{"P-074", bundle.CodeCollision, []string{"ſ", "s"}},
	{"P-075", bundle.CodeConflict, []string{"a", "a/b"}},
	{"P-076", bundle.CodeNotNFC, []string{"\u212a", "k"}},
	{"P-080", bundle.CodeEncoded, []string{"%2e"}},
	{"P-081", bundle.CodeEncoded, []string{"a%2fb"}},
	{"P-082", bundle.CodeEncoded, []string{"a%00"}},
	{"P-083", bundle.CodeURLChar, []string{"a#b"}},
	{"P-084", "", []string{"100%"}},
	{"P-090", "", []string{strings.Repeat("a", 255)}},
	{"P-091", bundle.CodeTooLong, []string{strings.Repeat("a", 256)}},
	{"P-092", "", []string{strings.Repeat(strings.Repeat("a", 203)+"/", 5) + "abcd"}},
	{"P-093", bundle.CodeTooLong, []string{strings.Repeat(strings.Repeat("a", 203)+"/", 5) + "abcde"}},
	{"P-094", bundle.CodeTooLong, []string{strings.Repeat("a/", 32) + "a"}},
	{"P-100", bundle.CodeSecret, []string{".env"}},
	{"P-101", bundle.CodeSecret, []string{".env.local"}},
	{"P-102", bundle.CodeSecret, []string{".ENV"}},
	{"P-103", bundle.CodeSecret, []string{".git/config"}},
	{"P-104", bundle.CodeSecret, []string{"key.pem"}},
	{"P-105", bundle.CodeSecret, []string{"id_rsa"}},
	{"P-106", bundle.CodeSecret, []string{".npmrc"}},
	{"P-107", bundle.CodeReserved, []string{"pages.deploy.json"}},
	{"P-108", bundle.CodeReserved, []string{"__pages/x"}},
}

func TestPaths(t *testing.T) {
	for _, c := range pathCases {
		_, err := bundle.New([]byte("{}"), files(c.paths...))
		if got := code(t, err); got != c.want {
			t.Errorf("%s %.40q: want %q, got %q", c.id, c.paths, c.want, got)
		}
		for _, p := range c.paths {
			if err := bundle.CheckPath(p); c.want == "" && err != nil {
				t.Errorf("%s: %v", c.id, err)
			}
		}
	}
}

// TestWalkedPaths compares the findings of a walk over a folder with the refusals of its upload, as far as the system can hold the names:
// a bundle that is refused is refused before anything is sent, by the same code. Names that are not in form C are converted.
func TestWalkedPaths(t *testing.T) {
	tried := 0
	for _, c := range pathCases {
		if c.id == "P-011" || c.id == "P-026" || c.id == "P-031" {
			continue // no file, no home folder below another one, and a dot file, which is left out
		}
		dir := t.TempDir()
		lay := func(name, text string) bool {
			full := filepath.Join(dir, name)
			return os.MkdirAll(filepath.Dir(full), 0o700) == nil && os.WriteFile(full, []byte(text), 0o600) == nil
		}
		if !lay("pages.deploy.json", `{"assets": "public"}`) {
			t.Fatal("no manifest")
		}
		holds := true
		for _, p := range c.paths {
			_, err := os.Lstat(filepath.Join(dir, "public", p)) // a system on which the two names are the same
			holds = holds && filepath.IsLocal(p) && path.Clean(p) == p && err != nil && lay("public/"+p, "x")
		}
		if !holds {
			continue
		}
		tried++
		want := c.want
		switch {
		case want == bundle.CodeNotNFC && len(c.paths) > 1:
			want = bundle.CodeCollision
		case want == bundle.CodeNotNFC:
			want = ""
		case want == "" && bundle.CheckPath("public/"+c.paths[0]) != nil:
			want = bundle.CodeTooLong // with the folder
		}
		_, diags := validate.Load(os.DirFS(dir), manifest.FileName)
		got := ""
		for _, d := range diags {
			if d.Severity == diagnostic.Error {
				got = d.Code
			}
		}
		if got != want {
			t.Errorf("%s %.40q: want %q, got %v", c.id, c.paths, want, diags)
		}
	}
	if runtime.GOOS == "linux" && tried < 50 {
		t.Errorf("%d cases were tried", tried)
	}
}

// TestServedPaths: the served paths count.
func TestServedPaths(t *testing.T) {
	for _, c := range []struct {
		manifest, want string
		paths          []string
	}{
		{
			`{"assets": "public", "bindings": {"database": {"migrations": "public/migrations"}}}`,
			bundle.CodeReserved,
			[]string{"public/migrations/0001.sql"},
		},
		{`{"assets": "public", "entry": "public/worker.js"}`, bundle.CodeReserved, []string{"public/worker.js"}},
		{`{"assets": "public"}`, bundle.CodeReserved, []string{"public/__pages/x"}},
		{`{"assets": "public"}`, bundle.CodeReserved, []string{"public/a/Pages.deploy.json"}},
		{`{"assets": "public"}`, bundle.CodeSecret, []string{"public/data.sqlite3"}},
		{`{"assets": "public"}`, "", []string{"public/a", "data.db"}},
		{`{}`, bundle.CodeSecret, []string{"data.db"}},
		{`{"assets": ".", "bindings": {"database": {"migrations": "migrations"}}}`, "", []string{"index.html", "migrations/0001.sql"}},
	} {
		t.Run(c.paths[0], func(t *testing.T) {
			_, err := bundle.New([]byte(c.manifest), files(c.paths...))
			if got := code(t, err); got != c.want {
				t.Errorf("%s %q: want %q, got %q", c.manifest, c.paths, c.want, got)
			}
		})
	}
}

func TestManifests(t *testing.T) {
	for manifest, names := range map[string]string{
		`{"limits": {"cpuMs": 40000}}`: "/limits/cpuMs", `{"extra": 1}`: "extra", `{"routes": [{"pattern": "x"}]}`: "/routes/0/pattern",
		`{"bindings": {"database": {"stagedMigrationsPrefix": "x"}}}`: "stagedMigrationsPrefix",
		`{"entry": "src/index.js"}`:                                   "/entry",
		`{"assets": "public"}`:                                        "/assets",
		`{"bindings": {"database": {"migrations": "migrations"}}}`:    "/bindings/database/migrations",
	} {
		t.Run(names, func(t *testing.T) {
			_, err := bundle.New([]byte(manifest), files("index.html", "migrations/deep/0001.sql"))
			if got := code(t, err); got != toolapi.CodeManifestInvalid || !strings.Contains(err.Error(), names) {
				t.Errorf("%s: want %s named, got %v", manifest, names, err)
			}
		})
	}
}

// TestManifestSentences compares the sentences that a person reads.
func TestManifestSentences(t *testing.T) {
	const one = `The manifest is invalid: the manifest has no key "Entry"; did you mean "entry"?`
	for manifest, want := range map[string]string{
		`{"Entry": "index.html"}`:                 one,
		`{"Entry": "index.html", "x": 1}`:         one + " It has one more problem.",
		`{"Entry": "index.html", "x": 1, "y": 1}`: one + " It has 2 more problems.",
	} {
		_, err := bundle.New([]byte(manifest), files("index.html"))
		if fault, ok := errors.AsType[*bundle.FaultError](err); !ok || fault.Message != want {
			t.Errorf("%s: %v, want %s", manifest, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	many := func(n int, size int64) (all []sitefile.File) {
		for i := range n {
			f := file(fmt.Sprint("f", i))
			f.Size = size
			all = append(all, f)
		}
		return all
	}
	twenty := many(20, toolapi.MaxFileBytes)
	over := append(many(20, toolapi.MaxFileBytes), file("x"))
	twice := files("a", "b")
	twice[1].SHA256, twice[1].Size = twice[0].SHA256, 7
	for name, c := range map[string]struct {
		want  string
		files []sitefile.File
	}{
		"20000": {"", many(20_000, 1)}, "20001": {toolapi.CodeFileCount, many(20_001, 1)},
		"500 MiB": {"", twenty}, "one byte more": {toolapi.CodeBundleTooLarge, over},
		"25 MiB and one": {toolapi.CodeFileTooLarge, many(1, toolapi.MaxFileBytes+1)},
		"same path":      {bundle.CodeCollision, files("a", "a")}, "two sizes": {toolapi.CodeSizeMismatch, twice},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bundle.New([]byte("{}"), c.files)
			if got := code(t, err); got != c.want {
				t.Errorf("%s: want %q, got %q", name, c.want, got)
			}
		})
	}
	_, err := bundle.New([]byte(`{"entry": "w.js"}`), []sitefile.File{{Path: "w.js", Size: toolapi.MaxWorkerBytes + 1}})
	if got := code(t, err); got != toolapi.CodeFileTooLarge {
		t.Errorf("a large Worker: %q", got)
	}
}

// TestDigest holds the digest to its definition, and shows its inputs.
func TestDigest(t *testing.T) {
	of := func(manifest string, files ...sitefile.File) string {
		b, err := bundle.New([]byte(manifest), files)
		if err != nil {
			t.Fatal(err)
		}
		return b.Digest
	}
	a, b := file("a.html"), file("b.css")
	want := sha256.Sum256([]byte(`{"files":[{"content_type":"text/html; charset=utf-8","path":"a.html","sha256":"` + a.SHA256 +
		`","size":6},{"content_type":"text/css; charset=utf-8","path":"b.css","sha256":"` + b.SHA256 +
		`","size":5}],"manifest":{"assets":".","limits":{"cpuMs":1000}}}`))
	got := of(`{ "limits": {"cpuMs": 1e3}, "assets": "." }`, b, a)
	if got != hex.EncodeToString(want[:]) {
		t.Errorf("the digest is %s", got)
	}
	typed := a
	typed.ContentType = "text/html"
	for name, other := range map[string]string{
		"manifest": of(`{"assets":"."}`, a, b),
		"type":     of(`{"assets":".","limits":{"cpuMs":1000}}`, typed, b),
		"files":    of(`{"assets":".","limits":{"cpuMs":1000}}`, a),
	} {
		if other == got {
			t.Errorf("the digest does not depend on the %s", name)
		}
	}
}

func TestAssets(t *testing.T) {
	urls := func(manifest string, paths ...string) (all []string) {
		b, err := bundle.New([]byte(manifest), files(paths...))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range b.Assets() {
			all = append(all, a.Path)
		}
		return all
	}
	for name, c := range map[string]struct{ got, want []string }{
		"folder": {urls(`{"assets":"public/"}`, "public/a/b.html", "public/c", "d"), []string{"/a/b.html", "/c"}},
		"root": {
			urls(`{"assets":".","entry":"w.js","bindings":{"database":{"migrations":"m"}}}`, "w.js", "m/1.sql", "x"),
			[]string{"/x"},
		},
		"none":   {urls(`{"entry":"w.js"}`, "w.js", "x"), nil},
		"hidden": {urls(`{"assets":"p"}`, "p/.well-known/x", "p/.hidden", "p/a/.b/c", "p/node_modules/x.js"), []string{"/.well-known/x"}},
		"plain":  {urls(`{}`, "index.html"), []string{"/index.html"}},
	} {
		t.Run(name, func(t *testing.T) {
			if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
				t.Errorf("%s: want %q, got %q", name, c.want, c.got)
			}
		})
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, c := range pathCases {
		for _, p := range c.paths {
			f.Add(p)
		}
	}
	f.Fuzz(func(t *testing.T, p string) {
		if bundle.CheckPath(p) != nil {
			return
		}
		for _, bad := range []string{"..", ".", ""} {
			for segment := range strings.SplitSeq(p, "/") {
				if segment == bad {
					t.Errorf("%q passes", p)
				}
			}
		}
		if strings.ContainsAny(p, "\x00\\:?#*\"<>|\n") || len(p) > 1024 || strings.HasPrefix(p, "__pages/") {
			t.Errorf("%q passes", p)
		}
	})
}

// The checks of a site use the limits of the service.
func TestLimitsOfManifest(t *testing.T) {
	if limits.MaxFileBytes != toolapi.MaxFileBytes || limits.MaxFiles != toolapi.MaxFiles ||
		limits.MaxBundleBytes != toolapi.MaxBundleBytes {
		t.Error("the manifest's limits are not those of uploads")
	}
}
