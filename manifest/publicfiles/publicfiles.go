// Package publicfiles lists the public files of a site ([Folder.Walk]), with their names ([Names]) and types
// ([ContentType]), and recognizes files with secrets by name or first line. Build, server and upload use it, so that all
// follow the same rules. The platform document gives none.
//
// Input: an assets folder and an fs.FS. Output: entries, each with its kind, in bytewise order. An entry that cannot be served
// has a diagnostic; errors are those of the file system. All functions are safe for concurrent use; a Names is not. The
// package writes nothing and looks at no route.
package publicfiles

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Folder is the folder of a site's static files.
type Folder struct {
	Dir        string // the folder, relative to the bundle root; "." is the root itself
	Migrations string // the folder of migrations, which are never public; empty for none
	Entry      string // the Worker's module, which is never public; empty for none
}

// Kind classifies an entry of the assets folder.
type Kind int

const (
	// AssetPublic is a file that is served, if its name allows it.
	AssetPublic Kind = iota
	// AssetFolder is a folder whose entries follow.
	AssetFolder
	// AssetPrivate is a file or folder that is never served, though its author may expect it.
	AssetPrivate
	// AssetHidden is a file or folder that is never served, as expected.
	AssetHidden
	// AssetIgnored is a file or folder that the site's ".assetsignore" leaves out.
	AssetIgnored
	// AssetRefused can neither be served nor left out.
	AssetRefused
)

// String names the kind as plans of a deploy do.
func (k Kind) String() string {
	return [...]string{"public", "folder", "private", "hidden", "ignored", "refused"}[k]
}

// Entry is a file or folder of a walk.
type Entry struct {
	Kind  Kind
	File  string      // its name relative to the bundle root
	Path  string      // its path on the site: relative to the assets folder, in Unicode form C
	Entry fs.DirEntry // its directory entry; of a public file that is a link, the target's
	// Target is the file that a public file which is a link leads to, relative to the bundle root; "" for no link.
	Target string
	Fault  *diagnostic.Diagnostic // the error of an AssetRefused
}

// entry judges one entry of the folder.
func (a Folder) entry(fsys fs.FS, file string, d fs.DirEntry, rules ignoreRules) Entry {
	rel := a.rel(file)
	e := Entry{File: file, Entry: d, Path: norm.NFC.String(rel)}
	// The two files with edge rules are never served. They count even if ".assetsignore" lists them, as SvelteKit's does.
	edgeRules := !d.IsDir() && (rel == sitepath.HeadersFile || rel == sitepath.RedirectsFile)
	switch {
	case file != a.Dir && rules.ignores(e.Path, d.IsDir()) && !edgeRules:
		e.Kind = AssetIgnored
	case a.refuseMisplaced(&e):
	case file == a.Dir:
		e.Kind = AssetFolder
	case HiddenPath(rel) && d.IsDir():
		e.Kind = AssetHidden
	case a.private(file):
		e.Kind = AssetPrivate
	case HiddenPath(rel):
		e.Kind = AssetHidden
	case d.IsDir():
		e.Kind = AssetFolder
	case d.Type()&fs.ModeSymlink != 0:
		a.link(fsys, &e)
	case !d.Type().IsRegular():
		e.refuse(diagnostic.CodeNotRegular, "move it out of the assets folder", "%q is not a regular file")
	}
	return e
}

// pagesWorker is the path of a Worker among the public files for Cloudflare Pages, to which frameworks write one: a file, or a folder of
// modules. It is not meant to be public, and wrangler refuses it.
const pagesWorker = "_worker.js"

// refuseMisplaced refuses files that the upload would refuse among public ones: a manifest, the Worker's module, and the
// migrations. If the folder is the bundle root, the site's own files are in it, and are skipped.
func (a Folder) refuseMisplaced(e *Entry) bool {
	atRoot := a.Dir == "."
	holdsEntry := a.Entry != "" && (a.Entry == e.File || strings.HasPrefix(a.Entry, e.File+"/"))
	fix, format := "", ""
	switch {
	case HiddenPath(a.rel(e.File)):
		return false
	case e.File == a.Dir && !atRoot && a.Migration(e.File):
		fix, format = "move the assets to a folder outside of it", "%q cannot be served: it lies among the migrations"
	case strings.EqualFold(path.Base(e.File), sitepath.ManifestFile) && e.File != sitepath.ManifestFile:
		fix, format = "remove it, or move it out of the assets folder", "%q cannot be served: a manifest is never public"
	case a.rel(e.File) == pagesWorker && !holdsEntry:
		fix = `list it in a file ".assetsignore" in the assets folder, and name it in "entry" unless another module imports it`
		format = "%q cannot be served: it is a Worker's code"
	case atRoot:
		return false
	case e.File == a.Entry:
		fix = `move it to another folder, such as "src", and name it there in "entry"; ` +
			`if a framework builds it here, list it in a file ".assetsignore" in the assets folder`
		format = "%q cannot be served: it is the Worker's entry"
	case a.Migration(e.File):
		fix = `move it to another folder, such as "migrations", and name that in "migrations"`
		format = "%q cannot be served: it holds the migrations"
	default:
		return false
	}
	e.refuse(diagnostic.CodeNameReserved, fix, format)
	return true
}

// Migration reports whether a file or folder is, or lies in, the folder of migrations. In the bundle root, only the scripts count.
func (a Folder) Migration(file string) bool {
	if a.Migrations == "." {
		return path.Dir(file) == "." && path.Ext(file) == ".sql"
	}
	return a.Migrations != "" && (file == a.Migrations || strings.HasPrefix(file, a.Migrations+"/"))
}

// Again checks a public file of an earlier walk again before it is read: a link may have replaced it, or a folder above it, and lead to a
// file that must not be served. The Entry of its result describes the file with the asset's bytes; the caller must open the same file
// ([os.SameFile]). Errors come from the file system.
func (a Folder) Again(fsys fs.FS, file string) (Entry, error) {
	e := Entry{File: file, Path: norm.NFC.String(a.rel(file))}
	top, _, err := sitepath.Follow(fsys, a.Dir)
	if err != nil {
		return e, err
	}
	info, err := fs.Lstat(fsys, file)
	if err != nil {
		return e, err
	}
	e.Entry = fs.FileInfoToDirEntry(info)
	folder, _, err := sitepath.Follow(fsys, path.Dir(file))
	switch {
	case err != nil || folder != path.Join(top, path.Dir(a.rel(file))):
		e.refuse(diagnostic.CodeLinkEscape, "replace the link with the folder",
			"%q is below a link to a folder, and such links are not followed")
	case info.Mode()&fs.ModeSymlink != 0:
		a.link(fsys, &e)
	case !info.Mode().IsRegular():
		e.refuse(diagnostic.CodeNotRegular, "move it out of the assets folder", "%q is not a regular file")
	}
	return e, nil
}

// link judges a symbolic link by its target.
func (a Folder) link(fsys fs.FS, e *Entry) {
	const instead = "replace the link with the file"
	target, info, err := sitepath.Follow(fsys, e.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.refuse(diagnostic.CodeLinkEscape, instead, "%q is a link to nothing")
	case errors.Is(err, sitepath.ErrLinkLoop):
		e.refuse(diagnostic.CodeLinkLoop, instead, "%q is a link that leads to itself, or through too many others")
	case errors.Is(err, sitepath.ErrLinkAbsolute):
		e.refuse(diagnostic.CodeLinkEscape, "make the link relative, to a file of the site, or replace it with the file",
			"%q is an absolute link, which holds on this machine alone")
	case err != nil:
		e.refuse(diagnostic.CodeLinkEscape, instead, "%q is a link that leads out of the site's folder")
	case info.IsDir():
		e.refuse(diagnostic.CodeLinkEscape, "replace the link with the folder", "%q is a link to a folder, and such links are not followed")
	case !info.Mode().IsRegular():
		e.refuse(diagnostic.CodeNotRegular, instead, "%q is a link to something other than a regular file")
	case HoldsSecrets(path.Base(target)):
		e.refuse(diagnostic.CodeNameSecret, instead, "%q is a link to a file that is never served")
	case a.private(target) || HiddenPath(a.rel(target)):
		e.refuse(diagnostic.CodeNameReserved, instead, "%q is a link to a file that is never served")
	default:
		e.Entry, e.Target = fs.FileInfoToDirEntry(info), target
	}
}

func (e *Entry) refuse(code, fix, format string) {
	fault := diagnostic.FileError(code, e.File, fix, format, e.File)
	e.Kind, e.Fault = AssetRefused, &fault
}

// rel returns a file's name relative to the folder.
func (a Folder) rel(file string) string {
	return strings.TrimPrefix(file, a.Dir+"/") // Dir may be "."
}

// projectFiles are files of the project at the bundle root, in lower case.
var projectFiles = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
	"tsconfig.json", "wrangler.json", "wrangler.jsonc", "wrangler.toml",
}

// private reports whether a file or folder is public nowhere in the bundle.
func (a Folder) private(file string) bool {
	dir, name := path.Split(file)
	return strings.EqualFold(name, sitepath.ManifestFile) || dir == "" && slices.Contains(projectFiles, strings.ToLower(name)) ||
		a.Migration(file) || a.Entry != "" && file == a.Entry || HoldsSecrets(name)
}

// HiddenPath reports whether a segment of a path, relative to the site's root and without a leading slash, keeps a file from
// being served: dot files but .well-known at the front (RFC 8615), installed packages, and files of file managers. They may
// be uploaded all the same; the plan of a deploy lists the files it leaves out.
func HiddenPath(rel string) bool {
	first := true
	for segment := range strings.SplitSeq(rel, "/") {
		dot := strings.HasPrefix(segment, ".") && (!first || segment != ".well-known")
		if dot || segment == "node_modules" || segment == "Thumbs.db" || segment == "desktop.ini" {
			return true
		}
		first = false
	}
	return false
}
