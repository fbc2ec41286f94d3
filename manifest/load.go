package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// Load reads the manifest of that name (slash separated, as fs.FS wants it) and checks it together with the
// files beside it, the bundle: what it names exists, is of the right kind and leads nowhere else, the assets
// hold no secrets, and routes, forms, tables and migrations agree with the files. The bundle root is the
// manifest's own folder. The manifest is nil when any diagnostic is an error.
//
// When the bundle ships a JSON runtime config that declares compatibility flags, the returned manifest
// carries those.
func Load(fsys fs.FS, name string) (*Manifest, Diagnostics) { return load(fsys, name, purpose{}) }

// LoadUnread is [Load] for who builds the site next: it leaves to the build, which reads every public file, what only
// their bytes tell, that one is a private key ([HoldsKey]). Pages are read for their forms all the same.
func LoadUnread(fsys fs.FS, name string) (*Manifest, Diagnostics) {
	return load(fsys, name, purpose{unread: true})
}

// LoadToUpload is [Load] for who asks whether the site can be published: more of public files than an upload takes is an
// error. On this machine such a site runs.
func LoadToUpload(fsys fs.FS, name string) (*Manifest, Diagnostics) {
	return load(fsys, name, purpose{upload: true})
}

// purpose is what a site is checked for.
type purpose struct {
	unread bool // see LoadUnread
	upload bool // see LoadToUpload
}

func load(fsys fs.FS, name string, to purpose) (*Manifest, Diagnostics) {
	src, err := readFile(fsys, name, limits.MaxManifestBytes+1)
	if err != nil {
		d := newDocument("")
		msg, fix := fmt.Sprintf("there is no %s here", quote(name)), "create one ({} is enough), or name the site's folder"
		if !errors.Is(err, fs.ErrNotExist) {
			msg, fix = fmt.Sprintf("%s cannot be read: %s", quote(name), reason(err)), "put a file there that the user who runs this can read"
		}
		d.add(Error, codeFileMissing, "", span{}, msg, fix)
		return d.finish()
	}
	d := parseDocument(name, src)
	if d.root == nil || d.root.kind != objectNode {
		return d.finish()
	}
	b := &bundle{document: d, fsys: fsys, purpose: to}
	if dir := path.Dir(name); dir != "." {
		if b.fsys, err = fs.Sub(fsys, dir); err != nil {
			d.add(Error, codeFileMissing, "", span{}, reason(err), "")
			return d.finish()
		}
	}
	flags := b.check()
	m, diags := d.finish()
	if m != nil && len(flags) > 0 {
		m.Runtime.CompatibilityFlags = flags
	}
	return m, diags
}

// bundle is a document together with the files it is about.
type bundle struct {
	*document
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
	const migrations = pointer("/bindings/database/migrations")
	if dir, ok := b.checkPath(migrations, true); ok {
		b.checkMigrations(migrations, dir)
	} else if b.has("/bindings/database") && !b.has(migrations) {
		b.checkUnnamed()
		b.checkTables("the site has no migrations to create", `name their folder in "bindings.database.migrations"`, nil)
	}
	return b.checkRuntimeConfig()
}

// checkPath checks the file or directory a value names. It returns the path, clean, and true when it is in
// order.
func (b *bundle) checkPath(p pointer, wantDir bool) (string, bool) {
	declared, ok := b.str(p)
	if !ok {
		return "", false
	}
	name, label, want := cleanPath(declared), p.label(), "a file"
	if wantDir {
		want = "a directory"
	}
	_, info, err := follow(b.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fix := cmp.Or(b.globFix(name, wantDir), makerFix(name), b.nearPath(name), "create or build it, or correct the path")
		b.refuse(codePathMissing, p, fmt.Sprintf("%s names %s, which does not exist", label, quote(declared)), fix)
	case err == nil && !b.spelled(name):
		fix := cmp.Or(b.nearPath(name), "write the path as the disk does")
		b.refuse(codePathMissing, p, fmt.Sprintf("%s names %s, which does not exist: this disk has it in another spelling", label, quote(declared)), fix)
	case errors.Is(err, errLinkOut), errors.Is(err, errLinkLoop):
		b.refuse(codePathSymlink, p, fmt.Sprintf("%s names %s, where %v", label, quote(declared), err), "put the files themselves into the bundle")
	case err != nil:
		b.refuse(codePathUnreadable, p, fmt.Sprintf("%s names %s, which cannot be read: %s", label, quote(declared), reason(err)), "let the user who runs this read it")
	case info.Mode().IsRegular() && !wantDir && namesFolder(declared):
		b.refuse(codePathKind, p, fmt.Sprintf("%s names %s, as one names a directory", label, quote(declared)), "write "+quote(name))
	case info.IsDir() != wantDir || !wantDir && !info.Mode().IsRegular():
		b.refuse(codePathKind, p, fmt.Sprintf("%s names %s, which is not %s", label, quote(declared), want), "name "+want)
	case !wantDir && isData(name):
		b.refuse(codePathKind, p, fmt.Sprintf("%s names %s, which is no JavaScript or TypeScript", label, quote(declared)), codeFix(name))
	default:
		if why := folderFault(name); wantDir && why != "" {
			b.refuse(codePathInvalid, p, fmt.Sprintf("%s names %s, whose files cannot be uploaded: its path %s", label, quote(declared), why), "rename the folder")
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
		if _, info, err := follow(b.fsys, dir); err == nil && info.IsDir() {
			return "write " + literal(dir) + ": it stands for all that is in it"
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
	_, found := LoadEdgeRules(b.fsys, assets)
	b.diagnostics = append(b.diagnostics, found...)
}
