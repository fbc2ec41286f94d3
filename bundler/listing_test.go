package bundler

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// A listing has the assets of a build, and needs no Worker that compiles.
func TestList(t *testing.T) {
	dir := site(
		t, "worker.ts", "import { a } from './lib/a'; export default { fetch() { return new Response(a) } }",
		"lib/a.ts", "export const a = 'a'",
		"js/page.js", "alert(1)", "index.html", "hello", ".env", "SECRET=1", "cafe\u0301.html", "coffee", "migrations/0001.sql", "SELECT 1",
	)
	m := manifest.Manifest{
		Entry: "worker.ts", Assets: ".",
		Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "migrations"}},
	}
	listing, found := List(t.Context(), dir, &m)
	if found.HasErrors() {
		t.Fatal(render(found))
	}
	if unsure := slices.Sorted(maps.Keys(listing.Unsure)); !slices.Equal(unsure, []string{"/js/page.js", "/lib/a.ts"}) {
		t.Errorf("unsure of %q", unsure)
	}
	built := build(t, builder(t, dir, Options{}), m).Assets
	listed := slices.DeleteFunc(slices.Clone(listing.Assets), func(a sitefile.Asset) bool { return a.Path == "/lib/a.ts" })
	for i := range built {
		if built[i].SHA256 == "" {
			t.Errorf("%s was built without a hash", built[i].Path)
		}
		built[i].SHA256 = ""
	}
	if !slices.Equal(listed, built) {
		t.Errorf("listed %+v, built %+v", listed, built)
	}

	put(t, dir, "worker.ts", "import { a } from './nowhere'; export default {")
	if again, found := List(t.Context(), dir, &m); found.HasErrors() || len(again.Assets) != len(listing.Assets) {
		t.Errorf("with a broken Worker: %+v\n%s", again, render(found))
	}
	m.Entry, m.Assets = "worker.ts", "js"
	if l, found := List(t.Context(), dir, &m); len(found) != 0 || len(l.Unsure) != 0 || len(l.Assets) != 1 ||
		filepath.Base(l.Assets[0].File) != "page.js" {
		t.Errorf("with the entry elsewhere: %+v\n%s", l, render(found))
	}
}

func TestListRefuses(t *testing.T) {
	dir := site(t, "public/con.txt", "x", "public/a.html", "x")
	if _, found := List(t.Context(), dir, &manifest.Manifest{Assets: "public"}); !found.HasErrors() ||
		found[0].Code != "path_windows_name" {
		t.Error(render(found))
	}
	if _, found := List(t.Context(), filepath.Join(dir, "nowhere"), &manifest.Manifest{}); !found.HasErrors() ||
		found[0].Code != "site-unreadable" {
		t.Error(render(found))
	}
}
