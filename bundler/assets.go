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
	path string // on the site, without the leading slash, in form C
	info fs.FileInfo
	sum  string
	link string // of a link, the file that it leads to, relative to the site's folder; "" for no link
	key  bool   // the file is a private key

	leaked leaked // the secrets in it
}

// assetWalk has the contents of the assets folder.
type assetWalk struct {
	dir         string // the site's folder, absolute
	files       []candidate
	left        []sitefile.LeftOut
	diagnostics diagnostic.List
	unlimited   bool // only warn of the ceilings of an upload
	named       bool // the names of the files were checked
}

// walkAssets retries after these pauses when files are removed between listing and reading, for example by a checkout.
const (
	maxWalks  = 5
	walkDelay = 20 * time.Millisecond
)

// walkAssets lists the assets folder of the site in dir, or uses listed; links do not lead out of root. fill sets the hashes
// of the files; nil sets none.
func walkAssets(
	ctx context.Context, dir string, root *os.Root, m *manifest.Manifest, listed *publicfiles.Listing, reads *reads,
	fill func(context.Context, reading, []candidate) error,
) assetWalk {
	w := assetWalk{dir: dir}
	if m.Assets == "" {
		return w
	}
	if info, err := root.Stat(m.Assets); err != nil || !info.IsDir() {
		d := problem("assets-missing", "", "create the folder, or remove assets", "the assets folder %q does not exist", m.Assets)
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
		case <-time.After(time.Duration(try) * walkDelay):
		case <-ctx.Done():
		}
		if try > 0 || listed != nil && listed.Folder != folder {
			listed = nil
		}
		w = assetWalk{dir: dir, named: listed != nil && listed.NamesPass}
		if err = w.visit(ctx, root, folder, listed, reads, fill); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if refused, ok := errors.AsType[*refusedError](err); ok {
		w.diagnostics = append(w.diagnostics, refused.fault)
	} else if err != nil {
		w.diagnostics = append(w.diagnostics, failure("assets-unreadable", "the assets folder cannot be read", err))
	}
	return w
}

// visit lists the folder once, or uses the given listing, and calls fill with the files.
func (w *assetWalk) visit(
	ctx context.Context, root *os.Root, folder publicfiles.Folder, listed *publicfiles.Listing, reads *reads,
	fill func(context.Context, reading, []candidate) error,
) error {
	entries := folder.Walk(root.FS())
	if listed != nil {
		entries = listed.All()
		w.files = make([]candidate, 0, len(listed.Entries))
	}
	for e, err := range entries {
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		switch e.Kind {
		case publicfiles.AssetFolder:
			reads.add(filepath.FromSlash(e.File))
		case publicfiles.AssetPrivate, publicfiles.AssetHidden, publicfiles.AssetIgnored:
			name := e.File
			if e.Entry.IsDir() {
				name += "/"
			}
			w.left = append(w.left, sitefile.LeftOut{Path: name, Reason: e.Kind.String()})
		case publicfiles.AssetRefused:
			w.diagnostics = append(w.diagnostics, *e.Fault)
		case publicfiles.AssetPublic:
			info, err := e.Entry.Info()
			if errors.Is(err, fs.ErrNotExist) { // removed since the folder was read
				continue
			}
			if err != nil {
				return err
			}
			if e.Target != "" {
				reads.add(filepath.FromSlash(e.Target))
			}
			w.files = append(w.files, candidate{file: e.File, path: e.Path, info: info, link: e.Target})
		}
	}
	if fill == nil {
		return nil
	}
	return fill(ctx, reading{root, folder}, w.files)
}

// serve makes assets of the candidates. sources are the Worker's files.
func (w *assetWalk) serve(m *manifest.Manifest, sources []string) (assets []sitefile.Asset, found diagnostic.List) {
	isCode := sourcesAmong(m, sources)
	var names publicfiles.Names
	var decomposed, large tally
	var total int64
	assets = slices.Grow(assets, len(w.files))
	inside := strings.TrimSuffix(w.dir, string(filepath.Separator)) + string(filepath.Separator)
	var copies []manifest.ServedFile
	members := manifest.NewRouteTable(m.Routes).HasMembers()
	for _, c := range w.files {
		if isCode(c.file) {
			w.left = append(w.left, sitefile.LeftOut{Path: c.file, Reason: "source"})
			continue
		}
		if !w.named {
			if d, refused := names.Check(c.file, c.path); refused {
				found = append(found, d)
				continue
			}
		}
		if c.key {
			found = append(found, m.AssetsFolder().KeyFault(c.file))
		}
		decomposed.addIf(!strings.HasSuffix(c.file, c.path), c.file)
		large.addIf(c.info.Size() > limits.MaxFileBytes, c.file)
		total += c.info.Size()
		if members && c.info.Size() > 0 {
			copies = append(copies, manifest.ServedFile{File: c.file, Path: "/" + c.path, Key: c.sum, Link: c.link})
		}
		target := ""
		if c.link != "" {
			target = inside + filepath.FromSlash(c.link)
		}
		assets = append(assets, sitefile.Asset{
			Path: "/" + c.path, File: inside + filepath.FromSlash(c.file), Target: target,
			Size: c.info.Size(), SHA256: c.sum, ContentType: publicfiles.ContentType(c.path), Modified: c.info.ModTime(),
		})
	}
	found = append(found, manifest.MembersCopies(m.Routes, copies)...)
	slices.SortFunc(assets, func(a, b sitefile.Asset) int { return cmp.Compare(a.Path, b.Path) })
	var private tally // the author may expect these to be served
	for _, left := range w.left {
		private.addIf(left.Reason == publicfiles.AssetPrivate.String() || left.Reason == "source", strings.TrimSuffix(left.Path, "/"))
	}
	moveOut := "move it out of the assets folder"
	if rootIsAssets(m) {
		moveOut = `keep the static files in a folder of their own, such as "public"`
	}
	found = slices.Concat(found,
		private.warn("asset-left-out", moveOut, "%s in the assets folder, but never served"),
		decomposed.warn(diagnostic.CodeAssetRenamed, "rename it to form NFC", "%s in decomposed Unicode and served by the composed name"))
	const storage = "serve it from storage"
	ceilings := large.warn("asset-too-large", storage, "%s over the "+megabytes(limits.MaxFileBytes)+" in an upload")
	if len(assets) > limits.MaxFiles || total > limits.MaxBundleBytes {
		ceilings = append(ceilings, warning("assets-too-many", m.Assets, "move large collections to storage",
			"the assets are %d files of %s together, over the limit of %d files or %s in an upload",
			len(assets), megabytes(total), limits.MaxFiles, megabytes(limits.MaxBundleBytes)))
	}
	for i := range ceilings {
		if !w.unlimited {
			ceilings[i].Severity = diagnostic.Error
		}
	}
	return assets, append(found, ceilings...)
}

// infos returns the os.FileInfo of each file when it was read, by its name relative to the site's folder.
func (w *assetWalk) infos() map[string]os.FileInfo {
	all := make(map[string]os.FileInfo, len(w.files))
	for _, c := range w.files {
		all[c.file] = c.info
	}
	return all
}

// tally collects files that share one warning.
type tally []string

func (t *tally) addIf(yes bool, file string) {
	if yes {
		*t = append(*t, file)
	}
}

// warn returns at most one warning. The format's verb becomes `"a" is`, or `"a", "b" and 3 more are`.
func (t tally) warn(code, fix, format string) diagnostic.List {
	if len(t) == 0 {
		return nil
	}
	const named = 5
	quoted := make([]string, 0, named)
	for _, file := range t[:min(named, len(t))] {
		quoted = append(quoted, `"`+file+`"`)
	}
	last := len(quoted) - 1
	subject := strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " are"
	switch more := len(t) - named; {
	case len(t) == 1:
		subject = quoted[0] + " is"
	case more > 0:
		subject = strings.Join(quoted, ", ") + " and " + strconv.Itoa(more) + " more are"
	}
	return diagnostic.List{warning(code, t[0], fix, format, subject)}
}

// sourcesAmong finds the Worker's own files when the whole site is the assets folder; the entry itself is not a candidate. In
// other folders, a file that both the Worker and a page import is meant to be served. Imports may differ in case from the
// file on a case-insensitive disk; two files whose names differ only in case are never served.
func sourcesAmong(m *manifest.Manifest, sources []string) func(file string) bool {
	code := map[string]bool{}
	if rootIsAssets(m) {
		for _, source := range sources {
			if isScript(source) {
				code[strings.ToLower(source)] = true
			}
		}
	}
	return func(file string) bool { return len(code) > 0 && code[strings.ToLower(file)] }
}

func isScript(file string) bool {
	switch path.Ext(file) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

func rootIsAssets(m *manifest.Manifest) bool { return path.Clean(m.Assets) == "." }

// Listing has the static files of a site, found without compiling its Worker.
type Listing struct {
	Dir    string           // the site's folder, absolute and without links; each File lies in it
	Assets []sitefile.Asset // sorted by Path, bytewise; their SHA256 is empty
	// Unsure has the Path of each asset that a Build excludes if the Worker imports it: scripts of a site whose entry is
	// among its assets.
	Unsure map[string]bool
}

// List finds the static files of the site in dir by the rules of a [Builder.Build]. It does not read them or compile the
// Worker. An error in the diagnostics would also fail a build.
func List(ctx context.Context, dir string, m *manifest.Manifest) (Listing, diagnostic.List) {
	dir = realDir(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Listing{}, diagnostic.List{failure("site-unreadable", "the site's folder cannot be read", err)}
	}
	defer root.Close()
	files := walkAssets(ctx, dir, root, m, nil, newReads(dir), nil)
	files.unlimited = true // no upload
	assets, found := files.serve(m, nil)
	found = append(found, files.diagnostics...)
	found.Sort()
	l := Listing{Dir: dir, Assets: assets, Unsure: map[string]bool{}}
	for _, a := range assets {
		if m.Entry != "" && rootIsAssets(m) && isScript(filepath.ToSlash(a.File)) {
			l.Unsure[a.Path] = true
		}
	}
	return l, found
}
