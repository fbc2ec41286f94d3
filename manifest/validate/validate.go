// Package validate checks a whole site: its manifest together with the files beside it. `pages validate`, the build and the
// dev server call it.
//
// Input: a file tree ([Load]). Output: a manifest with every default, nil when anything is an error, and every
// diagnostic, sorted by position. No function returns an error: a file that cannot be read is a diagnostic too. All functions
// are safe for concurrent use, and the work for a hostile tree is bounded. The package writes nothing and runs no code of the
// site.
package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Checker checks sites. The zero value checks all of one.
type Checker struct {
	NoEdgeRules bool // sets "_headers" and "_redirects" aside, unread
}

// Load is [Checker.Load] of all of a site.
func Load(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return Checker{}.Load(fsys, name)
}

// LoadForBuild is [Checker.LoadForBuild] of all of a site.
func LoadForBuild(fsys, listed fs.FS, name string) (*manifest.Manifest, *publicfiles.Listing, diagnostic.List) {
	return Checker{}.LoadForBuild(fsys, listed, name)
}

// Load reads the manifest of that name (slash separated, as fs.FS wants it) and checks it together with the files beside it,
// the bundle: its paths exist, are of the right kind and lead nowhere else, the assets hold no secrets, and routes, forms
// and migrations agree with the files. The bundle root is the manifest's own folder. The manifest is nil when any
// diagnostic is an error. It has the compatibility flags of a JSON runtime config, if the bundle ships one with flags.
func (c Checker) Load(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, &purpose{Checker: c})
}

// LoadForBuild is Load before a build: it leaves the search for private keys ([publicfiles.HoldsKey]) to the build, which reads every
// public file. It still reads pages for their forms. It also returns the listing of the public files, for the build; nil for a site
// without a folder of them, a refused one, or one that it did not read completely. listed is the manifest's own folder as an [os.Root]
// has it, which looks at files as it lists them.
func (c Checker) LoadForBuild(fsys, listed fs.FS, name string) (*manifest.Manifest, *publicfiles.Listing, diagnostic.List) {
	to := purpose{Checker: c, unread: true, listed: listed}
	m, diags := load(fsys, name, &to)
	if m == nil {
		return nil, nil, diags
	}
	return m, to.listing, diags
}

// LoadForUpload is [Load] before publishing: more public files than an upload takes are an error. Such a site still runs on
// this machine.
func LoadForUpload(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, &purpose{upload: true})
}

// LoadForUpstream is [LoadForBuild] of a site whose public files come from the dev server of a framework: it skips the assets
// folder, and accepts a missing entry, which the framework's build creates.
func LoadForUpstream(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, &purpose{unread: true, upstream: true})
}

// purpose has the options of a check.
type purpose struct {
	Checker

	unread   bool // see LoadForBuild
	upload   bool // see LoadForUpload
	upstream bool // see LoadForUpstream
	listed   fs.FS
	// listing holds the public files of listed.
	listing *publicfiles.Listing
}

func load(fsys fs.FS, name string, to *purpose) (*manifest.Manifest, diagnostic.List) {
	src, err := sitepath.ReadFile(fsys, name, limits.MaxManifestBytes+1)
	if err != nil {
		d := manifest.NewDocument("")
		msg, fix := fmt.Sprintf("there is no %s here", sourcetext.Quote(name)), "create one ({} is enough), or pass the site's folder"
		if !errors.Is(err, fs.ErrNotExist) {
			msg, fix = fmt.Sprintf("%s cannot be read: %s", sourcetext.Quote(name), sitepath.Reason(err)),
				"replace it with a file that you can read"
		}
		d.Add(diagnostic.Error, diagnostic.CodeFileMissing, "", sourcetext.Span{}, msg, fix)
		return d.Finish()
	}
	d := manifest.ParseDocument(name, src)
	if d.Root == nil || d.Root.Kind != jsontree.ObjectNode {
		return d.Finish()
	}
	b := &bundle{Document: d, fsys: fsys, purpose: to}
	if dir := path.Dir(name); dir != "." {
		if b.fsys, err = fs.Sub(fsys, dir); err != nil {
			d.Add(diagnostic.Error, diagnostic.CodeFileMissing, "", sourcetext.Span{}, sitepath.Reason(err), "")
			return d.Finish()
		}
	}
	flags := b.check()
	m, diags := d.Finish()
	if m != nil && len(flags) > 0 {
		m.Runtime.CompatibilityFlags = flags
	}
	return m, diags
}

// checkPublic runs the rules of public files and members pages.
func (b *bundle) checkPublic() {
	if dir, ok := b.checkPath("/assets", true); ok {
		files := b.checkAssets(dir)
		if !b.NoEdgeRules {
			b.Diagnostics = append(b.Diagnostics, edgerules.Check(b.fsys, dir, files)...)
		}
	} else if !b.Has("/assets") {
		b.checkGuards(&assets{})
	}
}

// check runs every rule that looks at files. It returns the compatibility flags of a JSON runtime config.
func (b *bundle) check() []string {
	if !b.upstream || b.exists("/entry") {
		b.checkPath("/entry", false)
	}
	if !b.upstream { // otherwise there are no files and no members pages to check
		b.checkPublic()
	}
	const migrations = jsontree.Pointer("/bindings/database/migrations")
	if dir, ok := b.checkPath(migrations, true); ok {
		b.checkMigrations(migrations, dir)
	} else if b.Has("/bindings/database") && !b.Has(migrations) {
		b.checkUnnamed()
		b.refuseTables()
	}
	return b.checkRuntimeConfig()
}
