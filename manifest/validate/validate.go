// Package validate checks a whole site: its manifest together with the files beside it. It is the room above all others of
// the manifest, which `pages validate`, the build and the dev server call.
//
// In goes a file tree ([Load]); out comes a manifest with every default, nil when anything is an error, and every
// diagnostic, sorted by position. No function returns an error: a file that cannot be read is a diagnostic too. All functions are
// safe for concurrent use, and what a hostile tree can make them do is bounded. The package writes nothing and runs no code of the
// site.
package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Load reads the manifest of that name (slash separated, as fs.FS wants it) and checks it together with the
// files beside it, the bundle: what it names exists, is of the right kind and leads nowhere else, the assets
// hold no secrets, and routes, forms, tables and migrations agree with the files. The bundle root is the
// manifest's own folder. The manifest is nil when any diagnostic is an error.
//
// When the bundle ships a JSON runtime config that declares compatibility flags, the returned manifest
// carries those.
func Load(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, purpose{})
}

// LoadForBuild is [Load] for who builds the site next: it leaves to the build, which reads every public file, what only
// their bytes tell, that one is a private key ([HoldsKey]). Pages are read for their forms all the same.
func LoadForBuild(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, purpose{unread: true})
}

// LoadForUpload is [Load] for who asks whether the site can be published: more of public files than an upload takes is an
// error. On this machine such a site runs.
func LoadForUpload(fsys fs.FS, name string) (*manifest.Manifest, diagnostic.List) {
	return load(fsys, name, purpose{upload: true})
}

// purpose is what a site is checked for.
type purpose struct {
	unread bool // see LoadForBuild
	upload bool // see LoadForUpload
}

func load(fsys fs.FS, name string, to purpose) (*manifest.Manifest, diagnostic.List) {
	src, err := sitepath.ReadFile(fsys, name, limits.MaxManifestBytes+1)
	if err != nil {
		d := manifest.NewDocument("")
		msg, fix := fmt.Sprintf("there is no %s here", sourcetext.Quote(name)), "create one ({} is enough), or name the site's folder"
		if !errors.Is(err, fs.ErrNotExist) {
			msg, fix = fmt.Sprintf("%s cannot be read: %s", sourcetext.Quote(name), sitepath.Reason(err)),
				"put a file there that the user who runs this can read"
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

// bundle is a document together with the files it is about.
type bundle struct {
	*manifest.Document
	purpose
	fsys fs.FS
}

// check runs every rule that looks at files. It returns the compatibility flags of a JSON runtime config.
func (b *bundle) check() []string {
	b.checkPath("/entry", false)
	if dir, ok := b.checkPath("/assets", true); ok {
		b.checkAssets(dir)
		b.checkEdgeRules(dir)
	}
	const migrations = jsontree.Pointer("/bindings/database/migrations")
	if dir, ok := b.checkPath(migrations, true); ok {
		b.checkMigrations(migrations, dir)
	} else if b.Has("/bindings/database") && !b.Has(migrations) {
		b.checkUnnamed()
		b.checkTables("the site has no migrations to create", `name their folder in "bindings.database.migrations"`, nil)
	}
	return b.checkRuntimeConfig()
}

// checkPath checks the file or directory a value names. It returns the path, clean, and true when it is in
// order.
func (b *bundle) checkPath(p jsontree.Pointer, wantDir bool) (string, bool) {
	declared, ok := b.Str(p)
	if !ok {
		return "", false
	}
	name, label, want := sitepath.CleanPath(declared), p.Label(), "a file"
	if wantDir {
		want = "a directory"
	}
	_, info, err := sitepath.Follow(b.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fix := cmp.Or(b.globFix(name, wantDir), makerFix(name), b.nearPath(name), "create or build it, or correct the path")
		b.Refuse(diagnostic.CodePathMissing, p, fmt.Sprintf("%s names %s, which does not exist", label, sourcetext.Quote(declared)), fix)
	case err == nil && !b.spelled(name):
		fix := cmp.Or(b.nearPath(name), "write the path as the disk does")
		b.Refuse(
			diagnostic.CodePathMissing, p,
			fmt.Sprintf("%s names %s, which does not exist: this disk has it in another spelling", label, sourcetext.Quote(declared)),
			fix,
		)
	case errors.Is(err, sitepath.ErrLinkOut), errors.Is(err, sitepath.ErrLinkLoop):
		b.Refuse(
			diagnostic.CodePathSymlink, p, fmt.Sprintf("%s names %s, where %v", label, sourcetext.Quote(declared), err),
			"put the files themselves into the bundle",
		)
	case err != nil:
		b.Refuse(
			diagnostic.CodePathUnreadable, p,
			fmt.Sprintf("%s names %s, which cannot be read: %s", label, sourcetext.Quote(declared), sitepath.Reason(err)),
			"let the user who runs this read it",
		)
	case info.Mode().IsRegular() && !wantDir && namesFolder(declared):
		b.Refuse(
			diagnostic.CodePathKind, p,
			fmt.Sprintf("%s names %s, as one names a directory", label, sourcetext.Quote(declared)),
			"write "+sourcetext.Quote(name),
		)
	case info.IsDir() != wantDir || !wantDir && !info.Mode().IsRegular():
		b.Refuse(
			diagnostic.CodePathKind, p,
			fmt.Sprintf("%s names %s, which is not %s", label, sourcetext.Quote(declared), want), "name "+want,
		)
	case !wantDir && isData(name):
		b.Refuse(
			diagnostic.CodePathKind, p,
			fmt.Sprintf("%s names %s, which is no JavaScript or TypeScript", label, sourcetext.Quote(declared)),
			codeFix(name),
		)
	default:
		if why := publicfiles.FolderFault(name); wantDir && why != "" {
			b.Refuse(
				diagnostic.CodePathInvalid, p,
				fmt.Sprintf("%s names %s, whose files cannot be uploaded: its path %s", label, sourcetext.Quote(declared), why),
				"rename the folder",
			)
		}
		return name, true
	}
	return "", false
}

// makerFix is for a path that says by its name what makes it.
func makerFix(name string) string {
	switch top, _, _ := strings.Cut(name, "/"); top {
	case "node_modules":
		return "install the packages, or correct the path"
	case ".open-next":
		return "run `npx opennextjs-cloudflare build`, or correct the path"
	}
	return ""
}

// globFix is for a pattern in place of a path: a directory stands for all that is in it.
func (b *bundle) globFix(name string, wantDir bool) string {
	before, _, found := strings.Cut(name, "*")
	if !found {
		return ""
	}
	if dir := path.Dir(before); wantDir && dir != "." {
		if _, info, err := sitepath.Follow(b.fsys, dir); err == nil && info.IsDir() {
			return "write " + sourcetext.Literal(dir) + ": it stands for all that is in it"
		}
	}
	return "name one, without a pattern"
}

// isData reports whether a file cannot be the Worker's module, by its name: a page, or what a module may import.
func isData(name string) bool {
	switch path.Ext(name) {
	case ".html", ".htm", ".css", ".md", ".json", ".txt", ".sql", ".wasm", ".bin":
		return true
	default:
		return false
	}
}

func codeFix(name string) string {
	switch path.Ext(name) {
	case ".html", ".htm":
		return `remove it: pages need no Worker, and are served from the folder that "assets" names`
	default:
		return "name the Worker's module, such as src/index.js"
	}
}

// namesFolder reports whether a path can name a directory alone.
func namesFolder(declared string) bool {
	return strings.HasSuffix(declared, "/") || strings.HasSuffix(declared, "/.")
}

// checkEdgeRules tells what is wrong with the two files.
func (b *bundle) checkEdgeRules(assets string) {
	_, found := edgerules.Load(b.fsys, assets)
	b.Diagnostics = append(b.Diagnostics, found...)
}
