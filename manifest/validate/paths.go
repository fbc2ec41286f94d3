package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// bundle is a document with the files that it names.
type bundle struct {
	*manifest.Document
	*purpose

	fsys fs.FS
}

// exists reports whether the path in a value exists.
func (b *bundle) exists(p jsontree.Pointer) bool {
	declared, ok := b.Str(p)
	if !ok {
		return false
	}
	_, _, err := sitepath.Follow(b.fsys, sitepath.CleanPath(declared))
	return !errors.Is(err, fs.ErrNotExist)
}

// checkPath checks the file or directory that a value names. It returns the path, clean, and true when it is valid.
func (b *bundle) checkPath(p jsontree.Pointer, wantDir bool) (string, bool) {
	declared, ok := b.Str(p)
	if !ok {
		return "", false
	}
	name, want := sitepath.CleanPath(declared), "a file"
	if wantDir {
		want = "a directory"
	}
	names := fmt.Sprintf("%s names %s, ", p.Label(), sourcetext.Quote(declared)) // the start of every message
	_, info, err := sitepath.Follow(b.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.Refuse(diagnostic.CodePathMissing, p, names+"which does not exist", b.missingFix(name, wantDir))
	case err == nil && !b.hasDiskSpelling(name):
		b.Refuse(diagnostic.CodePathMissing, p, names+"which does not exist: on this disk it is spelled differently",
			cmp.Or(b.nearPath(name), "write the path as it is on the disk"))
	case errors.Is(err, sitepath.ErrLinkOut), errors.Is(err, sitepath.ErrLinkLoop):
		b.Refuse(diagnostic.CodePathSymlink, p, names+"where "+err.Error(), "replace the link with the files")
	case err != nil:
		b.Refuse(diagnostic.CodePathUnreadable, p, names+"which cannot be read: "+sitepath.Reason(err),
			"give yourself permission to read it")
	case info.Mode().IsRegular() && !wantDir && (strings.HasSuffix(declared, "/") || strings.HasSuffix(declared, "/.")):
		b.Refuse(diagnostic.CodePathKind, p, names+"with a slash at the end, as a directory", "write "+sourcetext.Quote(name))
	case info.IsDir() != wantDir || !wantDir && !info.Mode().IsRegular():
		b.Refuse(diagnostic.CodePathKind, p, names+"which is not "+want, "name "+want)
	case !wantDir && slices.Contains(dataExtensions, path.Ext(name)):
		fix := "name the Worker's module, such as src/index.js"
		if strings.HasPrefix(path.Ext(name), ".htm") {
			fix = `remove it: pages need no Worker, and are served from the folder that "assets" names`
		}
		b.Refuse(diagnostic.CodePathKind, p, names+"which is not JavaScript or TypeScript", fix)
	default:
		if fault := publicfiles.FolderFault(name); p == "/assets" && fault != "" {
			b.Refuse(diagnostic.CodePathInvalid, p, names+"whose files cannot be uploaded: its path "+fault, "rename the folder")
		}
		return name, true
	}
	return "", false
}

// dataExtensions are those of files that cannot be the Worker's module: pages, and data for modules.
var dataExtensions = []string{".html", ".htm", ".css", ".md", ".json", ".txt", ".sql", ".wasm", ".bin"}

// missingFix returns the fix for a path that does not exist.
func (b *bundle) missingFix(name string, wantDir bool) string {
	if before, _, isPattern := strings.Cut(name, "*"); isPattern {
		if dir := path.Dir(before); wantDir && dir != "." {
			if _, info, err := sitepath.Follow(b.fsys, dir); err == nil && info.IsDir() {
				return "write " + sourcetext.Literal(dir) + ": it includes everything in it"
			}
		}
		return "name one file or folder, without a pattern"
	}
	switch top, _, _ := strings.Cut(name, "/"); top {
	case "node_modules":
		return "install the packages, or correct the path"
	case ".open-next":
		return "run `npx opennextjs-cloudflare build`, or correct the path"
	}
	return cmp.Or(b.nearPath(name), "create or build it, or correct the path")
}

// nearPath proposes a path for a missing one: an entry of the same folder with a similar name, or one that differs
// only in case or extension.
func (b *bundle) nearPath(name string) string {
	dir, base := path.Split(name)
	dir, ok := b.anyCase(path.Clean(dir))
	if !ok {
		return ""
	}
	entries, err := fs.ReadDir(b.fsys, dir)
	if err != nil {
		return ""
	}
	stem, sameName, sameStem := strings.TrimSuffix(base, path.Ext(base)), "", ""
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if sameName == "" && strings.EqualFold(name, base) {
			sameName = name
		}
		if sameStem == "" && stem != "" && base != stem && strings.TrimSuffix(name, path.Ext(name)) == stem {
			sameStem = name
		}
		names = append(names, name)
	}
	if near := cmp.Or(sameName, sameStem, diagnostic.Nearest(base, names)); near != "" {
		return fmt.Sprintf("did you mean %s?", sourcetext.Literal(path.Join(dir, near)))
	}
	return ""
}

// anyCase finds a folder by its path in any case. Links are not followed.
func (b *bundle) anyCase(dir string) (string, bool) {
	at := "."
	for seg := range strings.SplitSeq(dir, "/") {
		entries, err := fs.ReadDir(b.fsys, at)
		if err != nil {
			return "", false
		}
		found := ""
		for _, e := range entries {
			if e.IsDir() && (e.Name() == seg || found == "" && strings.EqualFold(e.Name(), seg)) {
				found = e.Name()
			}
		}
		if found == "" && seg != "." {
			return "", false
		}
		at = path.Join(at, found)
	}
	return at, true
}

// hasDiskSpelling reports whether an existing path has the spelling of the disk. The file systems of Windows and macOS find a file in
// another case too, or with a dot after its name. The rules that keep the Worker's entry and the migrations private compare
// names: in another spelling, they would be public.
func (b *bundle) hasDiskSpelling(name string) bool {
	at := "."
	for seg := range strings.SplitSeq(name, "/") {
		if seg != "." && !b.lists(at, seg) {
			return false
		}
		at = path.Join(at, seg)
	}
	return true
}

// lists reports whether a folder has an entry of exactly that name; a folder without read permission counts as having it.
// It does not call [fs.ReadDir], which a watcher of reads would count as a read of all files.
func (b *bundle) lists(dir, name string) bool {
	f, err := b.fsys.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	folder, ok := f.(fs.ReadDirFile)
	if !ok {
		return true
	}
	entries, err := folder.ReadDir(-1)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}
