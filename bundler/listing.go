package bundler

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Listing is the static files of a site, as far as they can be told without
// compiling its Worker.
type Listing struct {
	// Dir is the site's folder, absolute and without links. Each File lies in it.
	Dir string
	// Assets are sorted by Path, bytewise. Their SHA256 is empty.
	Assets []sitefile.Asset
	// Unsure has the Path of each asset that a Build leaves out if the Worker
	// imports it: scripts, on a site whose entry lies among its assets.
	Unsure map[string]bool
}

// List finds the static files of the site in dir by the rules of a
// [Builder.Build]. It does not read them and needs no Worker that compiles. With
// any error among the diagnostics a build would be refused for its files.
func List(ctx context.Context, dir string, m *manifest.Manifest) (Listing, diagnostic.List) {
	dir = realDir(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Listing{}, diagnostic.List{failed("site-unreadable", "the site's folder cannot be read", err)}
	}
	defer root.Close()
	files := walkAssets(ctx, dir, root, m, newReads(dir), nil)
	assets, found := files.serve(m, nil)
	found = append(found, files.diagnostics...)
	found.Sort()
	l := Listing{Dir: dir, Assets: assets, Unsure: map[string]bool{}}
	for _, a := range assets {
		if m.Entry != "" && siteIsAssets(m) && script(filepath.ToSlash(a.File)) {
			l.Unsure[a.Path] = true
		}
	}
	return l, found
}
