// Package publicfiles says which files of a site are public ([Folder.Walk]), under which names ([Names]), with which type
// ([ContentType]), and which of them hold secrets by name or by their first line. Who builds, serves or uploads a site
// asks it, and so keeps to the rules that were checked.
//
// In go an assets folder and an fs.FS; out come entries, each with its kind, in bytewise order. What cannot be served is an
// entry with a diagnostic; errors are those of the file system. All functions are safe for concurrent use; a Names is not. The
// package writes nothing and looks at no route.
package publicfiles

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file says which files of a site are public. The platform document gives no rules for it.

// Folder is the folder of a site's static files.
type Folder struct {
	// Dir is the folder, relative to the bundle root; "." is the root itself.
	Dir string
	// Migrations is the folder of migrations, which are public nowhere; empty for none.
	Migrations string
	// Entry is the Worker's module, which is public nowhere; empty for none.
	Entry string
}

// Kind is what a walk makes of an entry of the assets folder.
type Kind int

const (
	// AssetPublic is a file that is served, if its name allows it.
	AssetPublic Kind = iota
	// AssetFolder is a folder whose entries follow.
	AssetFolder
	// AssetPrivate is a file or folder that no visitor may have, and that its author may think is served.
	AssetPrivate
	// AssetHidden is a file or folder that nobody expects to be served.
	AssetHidden
	// AssetIgnored is a file or folder that the site's ".assetsignore" leaves out.
	AssetIgnored
	// AssetRefused is what can neither be served nor left out.
	AssetRefused
)

// String names the kind as plans of a deploy do.
func (k Kind) String() string {
	return [...]string{"public", "folder", "private", "hidden", "ignored", "refused"}[k]
}

// Entry is a file or folder that a walk met.
type Entry struct {
	Kind Kind
	// File is its name relative to the bundle root.
	File string
	// Path is what it is served under: relative to the assets folder, in Unicode form C.
	Path string
	// Entry is its directory entry; of a public file that is a link, the target's.
	Entry fs.DirEntry
	// Fault is the error of an AssetRefused.
	Fault diagnostic.Diagnostic
}

// Walk visits the assets folder in bytewise order of each folder's names. What is private, hidden or ignored is not
// looked into. Links to files inside the bundle are followed, no other link is. An error belongs to the entry
// it comes with, which cannot be read; the walk goes on behind it. What is removed meanwhile is left out. Where
// ".assetsignore" cannot be read there is nothing but its error: nobody knows what is public.
func (a Folder) Walk(fsys fs.FS) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		rules, err := a.readIgnore(fsys)
		if err != nil {
			yield(Entry{File: a.IgnoreFile()}, err)
			return
		}
		// The function returns no error of its own but SkipAll.
		_ = fs.WalkDir(fsys, a.Dir, func(file string, d fs.DirEntry, err error) error {
			e := Entry{File: file, Entry: d}
			if err == nil {
				e = a.entry(fsys, file, d, rules)
			}
			switch {
			case file != a.Dir && (err != nil || e.Kind == AssetRefused) && sitepath.Vanished(fsys, file):
				return nil // as by a checkout of another branch
			case !yield(e, err):
				return fs.SkipAll
			case err == nil && d.IsDir() && e.Kind != AssetFolder:
				return fs.SkipDir
			}
			return nil
		})
	}
}

// entry judges one entry of the folder.
func (a Folder) entry(fsys fs.FS, file string, d fs.DirEntry, rules ignoreRules) Entry {
	rel := a.rel(file)
	e := Entry{File: file, Entry: d, Path: norm.NFC.String(rel)}
	switch {
	case file != a.Dir && rules.ignores(e.Path, d.IsDir()) && !a.carriesRules(file, d):
		e.Kind = AssetIgnored
	case a.misplaced(&e):
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
		e.refuseAs(diagnostic.CodeNotRegular, "move it out of the assets folder", "%q is no regular file")
	}
	return e
}

// carriesRules reports whether a file is one of the two with rules for the others, which count and are never served whatever
// ".assetsignore" says: SvelteKit lists both there.
func (a Folder) carriesRules(file string, d fs.DirEntry) bool {
	rel := a.rel(file)
	return !d.IsDir() && (rel == sitepath.HeadersFile || rel == sitepath.RedirectsFile)
}

// misplaced refuses what the upload would refuse among public files: a manifest, the Worker's module, and the
// migrations. Where the folder is the bundle root, the site's own are there by nature, and left out.
func (a Folder) misplaced(e *Entry) bool {
	atRoot := a.Dir == "."
	switch {
	case HiddenPath(a.rel(e.File)):
		return false
	case e.File == a.Dir && !atRoot && a.Migration(e.File):
		e.refuseAs(
			diagnostic.CodeNameReserved, "give the assets a folder outside of it",
			"%q cannot be served: it lies among the migrations",
		)
	case strings.EqualFold(path.Base(e.File), sitepath.ManifestFile) && e.File != sitepath.ManifestFile:
		e.refuseAs(
			diagnostic.CodeNameReserved, "remove it, or move it out of the assets folder",
			"%q cannot be served: a manifest is never public",
		)
	case a.rel(e.File) == pagesWorker && !a.holdsEntry(e.File):
		e.refuseAs(
			diagnostic.CodeNameReserved,
			`list it in a file ".assetsignore" in the assets folder, and name it in "entry" unless another module runs it`,
			"%q cannot be served: it is a Worker's code",
		)
	case atRoot:
		return false
	case e.File == a.Entry:
		e.refuseAs(
			diagnostic.CodeNameReserved,
			`move it to a folder of its own, such as "src", and name it there in "entry"; `+
				`where a framework builds it here, list it in a file ".assetsignore" in the assets folder`,
			"%q cannot be served: it is the Worker's entry",
		)
	case a.Migration(e.File):
		e.refuseAs(
			diagnostic.CodeNameReserved,
			`move it to a folder of its own, such as "migrations", and name that in "migrations"`,
			"%q cannot be served: it holds the migrations",
		)
	default:
		return false
	}
	return true
}

// pagesWorker is where Cloudflare Pages looks for a Worker among the public files, and where frameworks that build for it
// put one: a file, or a folder of modules. Nobody means to publish it, and wrangler refuses to.
const pagesWorker = "_worker.js"

// holdsEntry reports whether a file is the Worker's module, or a folder that it lies in.
func (a Folder) holdsEntry(file string) bool {
	return a.Entry != "" && (a.Entry == file || strings.HasPrefix(a.Entry, file+"/"))
}

// Migration reports whether a file or folder is, or lies in, the folder of migrations. Of the bundle root only
// the scripts count.
func (a Folder) Migration(file string) bool {
	if a.Migrations == "." {
		return path.Dir(file) == "." && path.Ext(file) == ".sql"
	}
	return a.Migrations != "" && (file == a.Migrations || strings.HasPrefix(file, a.Migrations+"/"))
}

// Again judges a public file that a walk has met as it is now, for who is about to read it: a link may have taken
// its place, or that of a folder above it, and lead to what is never served. Its Entry is that of the file whose
// bytes are the asset's; what is opened must be that very file ([os.SameFile]). An error is one of the file system.
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
		e.refuseAs(
			diagnostic.CodeLinkEscape, "put the folder itself in its place",
			"%q lies behind a link to a folder, which is not followed",
		)
	case info.Mode()&fs.ModeSymlink != 0:
		a.link(fsys, &e)
	case !info.Mode().IsRegular():
		e.refuseAs(diagnostic.CodeNotRegular, "move it out of the assets folder", "%q is no regular file")
	}
	return e, nil
}

// link judges a symbolic link by where it leads.
func (a Folder) link(fsys fs.FS, e *Entry) {
	const instead = "put the file itself in its place"
	target, info, err := sitepath.Follow(fsys, e.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.refuseAs(diagnostic.CodeLinkEscape, instead, "%q is a link that leads nowhere")
	case errors.Is(err, sitepath.ErrLinkLoop):
		e.refuseAs(diagnostic.CodeLinkLoop, instead, "%q is a link that leads to itself, or through too many others")
	case err != nil:
		e.refuseAs(diagnostic.CodeLinkEscape, instead, "%q is a link that leads out of the site's folder")
	case info.IsDir():
		e.refuseAs(diagnostic.CodeLinkEscape, "put the folder itself in its place", "%q is a link to a folder, which is not followed")
	case !info.Mode().IsRegular():
		e.refuseAs(diagnostic.CodeNotRegular, instead, "%q is a link to something that is no regular file")
	case HoldsSecrets(path.Base(target)):
		e.refuseAs(diagnostic.CodeNameSecret, instead, "%q is a link to a file that is never served")
	case a.private(target) || HiddenPath(a.rel(target)):
		e.refuseAs(diagnostic.CodeNameReserved, instead, "%q is a link to a file that is never served")
	default:
		e.Entry = fs.FileInfoToDirEntry(info)
	}
}

func (e *Entry) refuseAs(code, fix, format string) {
	e.Kind, e.Fault = AssetRefused, diagnostic.FileError(code, e.File, fix, format, e.File)
}

// rel is a file's name relative to the folder.
func (a Folder) rel(file string) string {
	return strings.TrimPrefix(file, a.Dir+"/") // Dir may be "."
}

// private reports whether a file or folder is public nowhere in the bundle.
func (a Folder) private(file string) bool {
	dir, name := path.Split(file)
	switch {
	case strings.EqualFold(name, sitepath.ManifestFile):
		return true
	case dir == "" && slices.Contains(projectFiles(), strings.ToLower(name)):
		return true
	case a.Migration(file), a.Entry != "" && file == a.Entry:
		return true
	}
	return HoldsSecrets(name)
}

// projectFiles returns the files at the bundle root that are about the project, in lower case.
func projectFiles() []string {
	return []string{
		"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
		"tsconfig.json", "wrangler.json", "wrangler.jsonc", "wrangler.toml",
	}
}

// HiddenPath reports whether a segment of a path, relative to the site's root and without a leading slash, keeps a
// file from being served, whoever sent it: dot files but .well-known at the front (RFC 8615), installed packages,
// and what file managers leave behind. They may be uploaded all the same; the plan of a deploy names what it leaves out.
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

// HoldsSecrets reports whether files or folders of that name are known to hold keys, passwords or whole
// databases that nobody means to publish.
func HoldsSecrets(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "thumbs.db":
		return false
	case ".env", ".npmrc", ".netrc", ".pgpass", ".pypirc", ".git-credentials", ".htpasswd", ".git", ".ssh", ".aws", ".pages",
		"credentials.json", "secrets.json":
		return true
	}
	for _, end := range [...]string{".pub", ".example", ".sample", ".template", ".dist"} {
		if strings.HasSuffix(name, end) {
			return false // the public half of a key, or a form to fill in
		}
	}
	for _, start := range [...]string{".env.", ".dev.vars", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	switch path.Ext(name) {
	case ".env", ".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".db", ".db-wal", ".db-shm", ".db-journal":
		return true
	case ".json":
		return accountKey(name)
	}
	return strings.Contains(name, ".sqlite")
}

// accountKey reports whether a JSON file is named as cloud providers name the keys of accounts they hand out.
func accountKey(name string) bool {
	plain := strings.NewReplacer("-", "", "_", "").Replace(name)
	return strings.HasPrefix(plain, "serviceaccount") || strings.HasSuffix(plain, "serviceaccount.json") ||
		strings.HasPrefix(plain, "clientsecret") || strings.Contains(plain, "firebaseadminsdk")
}
