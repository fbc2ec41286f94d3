package bundler

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/bundler/hashfile"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// check checks a site as a command does before a build, and returns the listing of the public files.
func check(t *testing.T, dir string, now func() time.Time) (*manifest.Manifest, *publicfiles.Listing) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m, listed, found := validate.LoadForBuild(os.DirFS(dir), root.FS(), manifest.FileName)
	if m == nil || listed == nil {
		t.Fatalf("the site is refused:\n%s", render(found))
	}
	listed.Taken = now()
	return m, listed
}

// TestListed changes a file between the check of a site and its build, which does not read the checked files again. The bundle
// describes the file as it was at some moment. A file that is no longer public is neither in it nor opened.
func TestListed(t *testing.T) {
	const before, after, secret = "before", "behind", "KEY=4f7a1c9d2e8b6a53\n"
	swap := func(t *testing.T, file, target string) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, file); err != nil {
			testLacksLinks(t, err)
		}
	}
	tests := []struct {
		name   string
		change func(t *testing.T, dir, file string)
		public string // bytes that may be read of the file afterwards; "" for none
	}{
		{"nothing", func(*testing.T, string, string) {}, before},
		{"other bytes", func(t *testing.T, dir, _ string) { put(t, dir, "public/sub/a.txt", after) }, after},
		{"more bytes", func(t *testing.T, dir, _ string) { put(t, dir, "public/sub/a.txt", after+after) }, after + after},
		{"other bytes, and the old times", func(t *testing.T, dir, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "public/sub/a.txt", after)
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, after},
		{"another file in its place", func(t *testing.T, dir, file string) {
			put(t, dir, "new.txt", after)
			if err := os.Rename(filepath.Join(dir, "new.txt"), file); err != nil {
				t.Fatal(err)
			}
		}, after},
		{"a link to secrets in its place", func(t *testing.T, _, file string) { swap(t, file, "../../.env") }, ""},
		{"a link out of the site in its place", func(t *testing.T, dir, file string) {
			put(t, filepath.Dir(dir), filepath.Base(dir)+".txt", secret)
			swap(t, file, filepath.Join("..", "..", "..", filepath.Base(dir)+".txt"))
		}, ""},
		{"a link to another public file in its place", func(t *testing.T, _, file string) { swap(t, file, "../b.txt") }, "b"},
		{"a link in the place of its folder", func(t *testing.T, dir, file string) {
			put(t, dir, "private/a.txt", secret)
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../private", filepath.Dir(file)); err != nil {
				testLacksLinks(t, err)
			}
		}, ""},
		{"nothing in its place", func(t *testing.T, _, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, ""},
	}
	for _, c := range tests {
		for _, kept := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: ", with hashes that were kept", false: ""}[kept], func(t *testing.T) {
				dir := site(t, "pages.deploy.json", `{"assets": "./public/"}`, ".env", secret,
					"public/sub/a.txt", before, "public/b.txt", "b")
				o := Options{Now: later}
				if kept {
					o.HashFile = hashfile.Name(t.TempDir(), dir)
					first := builder(t, dir, o)
					build(t, first, manifest.Manifest{Assets: "public"})
					first.Close() // which waits for the hashes
				}
				m, listed := check(t, dir, later)
				c.change(t, dir, filepath.Join(dir, "public", "sub", "a.txt"))
				bundle, found := builder(t, dir, o).BuildListed(t.Context(), m, listed)
				if bundle == nil {
					if c.public != "" || !found.HasErrors() {
						t.Errorf("the build is refused:\n%s", render(found))
					}
					return
				}
				held := holds(t, dir, m, bundle, c.public)
				if c.name == "nothing" && (!held || len(bundle.Assets) != 2) {
					t.Errorf("%+v", bundle.Assets)
				}
				if !kept && c.public != "" && !held {
					t.Errorf("the bundle has other bytes than the file: %+v", bundle.Assets)
				}
			})
		}
	}
}

// holds opens the public file sub/a.txt as an upload does, which may return only the current public bytes. It reports whether the bundle
// has their hash; if not, the upload notices the difference.
func holds(t *testing.T, dir string, m *manifest.Manifest, b *Bundle, public string) (same bool) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	opener := b.Opener(root, m.AssetsFolder())
	defer opener.Close()
	for _, a := range b.Assets {
		if a.Path != "/sub/a.txt" {
			continue
		}
		if was := sum([]byte("before")); a.SHA256 != was && a.SHA256 != sum([]byte(public)) {
			t.Errorf("the hash is that of no state of the file: %s", a.SHA256)
		}
		f, err := opener.Open("public/sub/a.txt")
		if err != nil {
			if public != "" {
				t.Error(err)
			}
			return false
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil || public == "" || string(text) != public {
			t.Errorf("%q is opened, %v", text, err)
		}
		return a.SHA256 == sum(text)
	}
	return false
}

func testLacksLinks(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "privilege") { // Windows
		testmachine.Lacks(t, "links", err)
	}
	t.Fatal(err)
}

// TestListingOfAnotherMoment: a listing that is old, was taken in the future or of another folder counts for nothing.
func TestListingOfAnotherMoment(t *testing.T) {
	tests := []struct {
		name   string
		change func(l *publicfiles.Listing)
		counts bool
	}{
		{"as it is", func(*publicfiles.Listing) {}, true},
		{"taken four seconds ago", func(l *publicfiles.Listing) { l.Taken = l.Taken.Add(-4 * time.Second) }, true},
		{"taken six seconds ago", func(l *publicfiles.Listing) { l.Taken = l.Taken.Add(-6 * time.Second) }, false},
		{"taken in the future", func(l *publicfiles.Listing) { l.Taken = l.Taken.Add(time.Second) }, false},
		{"of another folder", func(l *publicfiles.Listing) { l.Folder.Dir = "dist" }, false},
		{"by other rules", func(l *publicfiles.Listing) { l.Folder.Migrations = "public/sql" }, false},
	}
	at := later()
	now := func() time.Time { return at }
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			dir := site(t, "pages.deploy.json", `{"assets": "public"}`, "public/a.txt", "a")
			m, listed := check(t, dir, now)
			put(t, dir, "public/new.txt", "new")
			c.change(listed)
			b := builder(t, dir, Options{Now: now})
			bundle, found := b.BuildListed(t.Context(), m, listed)
			if bundle == nil {
				t.Fatalf("the site does not build:\n%s", render(found))
			}
			if counted := len(bundle.Assets) == 1; counted != c.counts {
				t.Errorf("%d assets", len(bundle.Assets))
			}
			if next := build(t, b, *m); len(next.Assets) != 2 {
				t.Errorf("the next build has %d assets", len(next.Assets))
			}
		})
	}
}

// TestListedSites: a build with a listing makes the same bundle as one without.
func TestListedSites(t *testing.T) {
	for name, files := range map[string][]string{
		"static": {"pages.deploy.json", `{"assets": "public"}`, "public/a.txt", "a", "public/c/d.txt", "d", "public/.env.example", ""},
		"whole folder": {
			"pages.deploy.json", `{"assets": ".", "entry": "w.js", "routes": [{"pattern": "/api/*"}]}`,
			"w.js", `import x from "./x.js"; export default {fetch() { return new Response(x) }}`, "x.js", "export default 1",
			"X.txt", "", "index.html", "home", ".assetsignore", "ignored\n", "ignored/a.txt", "i",
		},
		"no assets": {
			"pages.deploy.json", `{"entry": "w.js", "routes": [{"pattern": "/*"}]}`,
			"w.js", "export default {fetch() { return new Response() }}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := site(t, files...)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			m, listed, found := validate.LoadForBuild(os.DirFS(dir), root.FS(), manifest.FileName)
			if m == nil || (listed == nil) != (name == "no assets") {
				t.Fatalf("listed %v:\n%s", listed != nil, render(found))
			}
			if listed != nil {
				listed.Taken = time.Now()
			}
			got, found := builder(t, dir, Options{}).BuildListed(t.Context(), m, listed)
			if got == nil {
				t.Fatalf("the site does not build:\n%s", render(found))
			}
			want := build(t, builder(t, dir, Options{}), *m)
			if got.Digest != want.Digest || len(got.Assets) != len(want.Assets) || len(got.LeftOut) != len(want.LeftOut) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}
