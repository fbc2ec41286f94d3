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
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// candidate is a file of the assets folder. Paths have forward slashes.
type candidate struct {
	file string // relative to the site's folder
	path string // as it is served, without the leading slash, in form C
	info fs.FileInfo
	sum  string
	key  bool // it is a private key

	leaked leaked // the secrets in it
}

// walked is what the assets folder holds.
type walked struct {
	dir         string // the site's folder, absolute
	files       []candidate
	left        []sitefile.LeftOut
	diagnostics diagnostic.List
}

// walkAssets lists and hashes the manifest's assets folder.
func (b *Builder) walkAssets(ctx context.Context, root *os.Root, m *manifest.Manifest, reads *reads) walked {
	return walkAssets(ctx, b.dir, root, m, reads, b.hashes.fill)
}

// A folder whose files are removed between being listed and being read, as by a checkout, is
// listed again: so often at most, after so long and each time longer.
const (
	maxWalks = 5
	settling = 20 * time.Millisecond
)

// walkAssets lists the assets folder of the site in dir, and stays inside root,
// whatever links say. fill completes what was found; nil leaves it at that.
func walkAssets(
	ctx context.Context, dir string, root *os.Root, m *manifest.Manifest, reads *reads,
	fill func(context.Context, reading, []candidate) error,
) walked {
	w := walked{dir: dir}
	if m.Assets == "" {
		return w
	}
	if info, err := root.Stat(m.Assets); err != nil || !info.IsDir() {
		d := problem("assets-missing", "", "make the folder, or leave assets out", "the assets folder %q does not exist", m.Assets)
		d.Path = "/assets"
		reads.add(filepath.FromSlash(m.Assets))
		w.diagnostics = append(w.diagnostics, d)
		return w
	}
	folder := m.AssetsFolder()
	reads.add(filepath.FromSlash(folder.IgnoreFile()))
	var err error
	for try := range maxWalks {
		select {
		case <-time.After(time.Duration(try) * settling):
		case <-ctx.Done():
		}
		w = walked{dir: dir}
		if err = w.visit(ctx, root, folder, reads, fill); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		w.diagnostics = append(w.diagnostics, refused.fault)
	} else if err != nil {
		w.diagnostics = append(w.diagnostics, failed("assets-unreadable", "the assets folder cannot be read", err))
	}
	return w
}

// visit goes through the folder, and has fill complete what it finds.
func (w *walked) visit(
	ctx context.Context, root *os.Root, folder publicfiles.Folder, reads *reads, fill func(context.Context, reading, []candidate) error,
) error {
	for e, err := range folder.Walk(root.FS()) {
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		switch e.Kind {
		case publicfiles.AssetFolder:
			reads.add(filepath.FromSlash(e.File))
		case publicfiles.AssetPrivate, publicfiles.AssetHidden, publicfiles.AssetIgnored:
			w.leave(e)
		case publicfiles.AssetRefused:
			w.diagnostics = append(w.diagnostics, e.Fault)
		case publicfiles.AssetPublic:
			info, err := e.Entry.Info()
			if errors.Is(err, fs.ErrNotExist) { // removed since the folder was read
				continue
			}
			if err != nil {
				return err
			}
			w.files = append(w.files, candidate{file: e.File, path: e.Path, info: info})
		}
	}
	if fill == nil {
		return nil
	}
	return fill(ctx, reading{root, folder}, w.files)
}

// leave notes what is not served.
func (w *walked) leave(e publicfiles.Entry) {
	name := e.File
	if e.Entry.IsDir() {
		name += "/"
	}
	w.left = append(w.left, sitefile.LeftOut{Path: name, Reason: e.Kind.String()})
}

// serve makes assets of the candidates. sources are the Worker's files.
func (w *walked) serve(m *manifest.Manifest, sources []string) (assets []sitefile.Asset, found diagnostic.List) {
	isCode := sourcesAmong(m, sources)
	var names publicfiles.Names
	var decomposed, large, unreachable tally
	var total int64
	for _, c := range w.files {
		if isCode(c.file) {
			w.left = append(w.left, sitefile.LeftOut{Path: c.file, Reason: "source"})
			continue
		}
		if d, refused := names.Check(c.file, c.path); refused {
			found = append(found, d)
			continue
		}
		if c.key {
			found = append(found, m.AssetsFolder().KeyFault(c.file))
		}
		decomposed.addIf(!strings.HasSuffix(c.file, c.path), c.file)
		large.addIf(c.info.Size() > limits.MaxFileBytes, c.file)
		unreachable.addIf(strings.Contains(c.path, "%"), c.file)
		total += c.info.Size()
		assets = append(assets, sitefile.Asset{
			Path: "/" + c.path, File: filepath.Join(w.dir, filepath.FromSlash(c.file)),
			Size: c.info.Size(), SHA256: c.sum, ContentType: publicfiles.ContentType(c.path), Modified: c.info.ModTime(),
		})
	}
	slices.SortFunc(assets, func(a, b sitefile.Asset) int { return cmp.Compare(a.Path, b.Path) })
	found = append(found, w.unexpected(m)...)
	found = append(found, decomposed.warn("asset-renamed", "rename it to form NFC", "%s in decomposed Unicode and served by the composed name")...)
	found = append(found, unreachable.warn("asset-unreachable", `rename it without "%"`, `%s out of reach: no request path may hold "%%"`)...)
	found = append(found, large.warn("asset-too-large", "serve it from storage", "%s over the "+megabytes(limits.MaxFileBytes)+" that an upload takes")...)
	if len(assets) > limits.MaxFiles || total > limits.MaxBundleBytes {
		found = append(found, warning("assets-too-many", m.Assets, "serve large collections from storage",
			"the assets are %d files of %s together, over the %d files or %s that an upload takes",
			len(assets), megabytes(total), limits.MaxFiles, megabytes(limits.MaxBundleBytes)))
	}
	return assets, found
}

// read are the files as they were when they were read.
func (w *walked) read() map[string]os.FileInfo {
	all := make(map[string]os.FileInfo, len(w.files))
	for _, c := range w.files {
		all[c.file] = c.info
	}
	return all
}

// leftOut is all that is not served.
func (w *walked) leftOut() []sitefile.LeftOut {
	slices.SortFunc(w.left, func(a, b sitefile.LeftOut) int { return cmp.Compare(a.Path, b.Path) })
	return w.left
}

// unexpected tells of what is never served though its author may think so.
func (w *walked) unexpected(m *manifest.Manifest) diagnostic.List {
	var t tally
	for _, left := range w.left {
		t.addIf(left.Reason == publicfiles.AssetPrivate.String() || left.Reason == "source", strings.TrimSuffix(left.Path, "/"))
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
func (t tally) warn(code, fix, format string) diagnostic.List {
	if len(t) == 0 {
		return nil
	}
	return diagnostic.List{warning(code, t[0], fix, format, t.subject())}
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
