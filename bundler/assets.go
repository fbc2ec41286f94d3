package bundler

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// What the upload takes (assumption: the platform document gives no numbers).
const (
	maxAssetBytes = 25 << 20
	maxAssets     = 20_000
	maxTotalBytes = 500 << 20
)

// candidate is a file of the assets folder. Paths have forward slashes.
type candidate struct {
	file string // relative to the site's folder
	path string // as it is served, without the leading slash, in form C
	info fs.FileInfo
	sum  string
}

// walked is what the assets folder holds.
type walked struct {
	dir         string // the site's folder, absolute
	files       []candidate
	left        []string // never served, relative to the site's folder
	diagnostics manifest.Diagnostics
}

// walker reads one assets folder. It stays inside root, whatever links say.
type walker struct {
	walked
	root    *os.Root
	folder  string // relative to the site's folder
	private private
	reads   *reads
}

// walkAssets lists and hashes the manifest's assets folder.
func (b *Builder) walkAssets(ctx context.Context, root *os.Root, m *manifest.Manifest, reads *reads) walked {
	return walkAssets(ctx, b.dir, root, m, reads, b.hashes.fill)
}

// walkAssets lists the assets folder of the site in dir. fill completes what was
// found; nil leaves it at that.
func walkAssets(
	ctx context.Context, dir string, root *os.Root, m *manifest.Manifest, reads *reads,
	fill func(context.Context, *os.Root, []candidate) error,
) walked {
	w := &walker{walked: walked{dir: dir}, root: root, folder: m.Assets, private: newPrivate(m), reads: reads}
	if m.Assets == "" {
		return w.walked
	}
	if info, err := root.Stat(m.Assets); err != nil || !info.IsDir() {
		d := problem("assets-missing", "", "make the folder, or leave assets out", "the assets folder %q does not exist", m.Assets)
		d.Path = "/assets"
		reads.addFolderOf(filepath.Join(dir, m.Assets))
		w.diagnostics = append(w.diagnostics, d)
		return w.walked
	}
	err := fs.WalkDir(root.FS(), m.Assets, func(file string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return w.visit(file, d)
	})
	if err == nil && fill != nil {
		err = fill(ctx, root, w.files)
	}
	if err != nil {
		w.diagnostics = append(w.diagnostics, failed("assets-unreadable", "the assets folder cannot be read", err))
	}
	return w.walked
}

// visit is called with every file and folder, in bytewise order.
func (w *walker) visit(file string, d fs.DirEntry) error {
	if file == w.folder && d.IsDir() {
		w.reads.add(filepath.FromSlash(file))
		return nil
	}
	rel := strings.TrimPrefix(file, w.folder+"/") // the folder may be "."
	switch {
	case hidden(rel) && d.IsDir():
		return fs.SkipDir
	case w.private.has(file) && d.IsDir():
		w.left = append(w.left, file)
		return fs.SkipDir
	case w.private.has(file):
		w.left = append(w.left, file)
		return nil
	case hidden(rel):
		return nil
	case d.IsDir():
		w.reads.add(filepath.FromSlash(file))
		return nil
	}
	info, err := w.stat(file, d)
	if info == nil || err != nil {
		return err
	}
	w.files = append(w.files, candidate{file: file, path: composed(rel), info: info})
	return nil
}

// stat is the regular file that the entry is or leads to; nil when it is
// neither, which is told.
func (w *walker) stat(file string, d fs.DirEntry) (fs.FileInfo, error) {
	refuse := func(fix, format string) (fs.FileInfo, error) {
		w.diagnostics = append(w.diagnostics, problem("asset-not-a-file", file, fix, format, file))
		return nil, nil
	}
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) { // removed since the folder was read
		return nil, nil
	}
	if err != nil || info.Mode().IsRegular() {
		return info, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return refuse("move it out of the assets folder", "%q is no regular file")
	}
	const instead = "put the file itself in its place"
	info, err = w.root.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(instead, "%q is a link that leads nowhere")
	case err != nil:
		return refuse(instead, "%q is a link that leads out of the site's folder, or to itself")
	case info.IsDir():
		return refuse("put the folder itself in its place", "%q is a link to a folder, which is not followed")
	case !info.Mode().IsRegular():
		return refuse(instead, "%q is a link to something that is no regular file")
	case w.leadsToPrivate(file):
		return refuse(instead, "%q is a link to a file that is never served")
	}
	return info, nil
}

// leadsToPrivate reports whether the link ends at a file that is never served
// under its own name, or at one that cannot be told.
func (w *walker) leadsToPrivate(link string) bool {
	target, err := filepath.EvalSymlinks(filepath.Join(w.dir, filepath.FromSlash(link)))
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(w.dir, target)
	if err != nil {
		return true
	}
	file := filepath.ToSlash(rel)
	return w.private.has(file) || hidden(strings.TrimPrefix(file, w.folder+"/"))
}

// serve makes assets of the candidates. sources are the Worker's files.
func (w walked) serve(m *manifest.Manifest, sources []string) (assets []Asset, found manifest.Diagnostics) {
	code := sourcesAmong(m, sources)
	served := map[string]string{} // folded path -> file
	var decomposed, large, unreachable tally
	var total int64
	for _, c := range w.files {
		if code[c.file] {
			w.left = append(w.left, c.file)
			continue
		}
		if code, reason := pathRefusal(c.path); code != "" {
			found = append(found, problem(code, c.file, "rename it", "%q cannot be served: its path %s", c.file, reason))
			continue
		}
		folded := foldPath(c.path)
		if other, ok := served[folded]; ok {
			found = append(found, problem("path-collision", c.file, "rename one of them",
				"%q and %q differ only in case or accents' encoding, which many file systems take for one", other, c.file))
			continue
		}
		served[folded] = c.file
		decomposed.addIf(!strings.HasSuffix(c.file, c.path), c.file)
		large.addIf(c.info.Size() > maxAssetBytes, c.file)
		unreachable.addIf(strings.Contains(c.path, "%"), c.file)
		total += c.info.Size()
		assets = append(assets, Asset{
			Path: "/" + c.path, File: filepath.Join(w.dir, filepath.FromSlash(c.file)),
			Size: c.info.Size(), SHA256: c.sum, ContentType: contentType(c.path),
		})
	}
	slices.SortFunc(assets, func(a, b Asset) int { return cmp.Compare(a.Path, b.Path) })
	found = append(found, w.leftOut(m)...)
	found = append(found, decomposed.warn("asset-renamed", "rename it to form NFC", "%s in decomposed Unicode and served by the composed name")...)
	found = append(found, unreachable.warn("asset-unreachable", `rename it without "%"`, `%s out of reach: no request path may hold "%%"`)...)
	found = append(found, large.warn("asset-too-large", "serve it from storage", "%s over the "+megabytes(maxAssetBytes)+" that an upload takes")...)
	if len(assets) > maxAssets || total > maxTotalBytes {
		found = append(found, warning("assets-too-many", m.Assets, "serve large collections from storage",
			"the assets are %d files of %s together, over the %d files or %s that an upload takes",
			len(assets), megabytes(total), maxAssets, megabytes(maxTotalBytes)))
	}
	return assets, found
}

// leftOut tells of the files that were met and are never served.
func (w walked) leftOut(m *manifest.Manifest) manifest.Diagnostics {
	var t tally
	for _, file := range w.left {
		t.addIf(true, file)
	}
	fix := "move it out of the assets folder"
	if path.Clean(m.Assets) == "." {
		fix = `keep the static files in a folder of their own, such as "public"`
	}
	return t.warn("asset-left-out", fix, "%s in the assets folder, but never served")
}

// tally gathers files that have one warning together.
type tally []string

func (t *tally) addIf(yes bool, file string) {
	if yes {
		*t = append(*t, file)
	}
}

// warn gives no warning or one. The format's verb becomes `"a" is`, or `"a",
// "b" and 3 more are`.
func (t tally) warn(code, fix, format string) manifest.Diagnostics {
	if len(t) == 0 {
		return nil
	}
	return manifest.Diagnostics{warning(code, t[0], fix, format, t.subject())}
}

func (t tally) subject() string {
	const named = 5
	if len(t) == 1 {
		return `"` + t[0] + `" is`
	}
	quoted := make([]string, 0, named)
	for _, file := range t[:min(named, len(t))] {
		quoted = append(quoted, `"`+file+`"`)
	}
	if more := len(t) - named; more > 0 {
		return strings.Join(quoted, ", ") + " and " + strconv.Itoa(more) + " more are"
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " are"
}
