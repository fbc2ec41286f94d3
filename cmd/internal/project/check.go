package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/rehearsal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// Checker checks manifests.
type Checker struct {
	Sites  *Sites
	Alone  bool // do not look at the files that a manifest names
	Record bool // fill in Checked.Looked

	Rehearsals *rehearsal.Cache // results of earlier checks of the same sites; nil to run all migrations each time
}

// All checks the named sites, or the one that it finds from the working directory upwards. An argument without a manifest has a report too,
// and does not stop the check of the others.
func (k Checker) All(ctx context.Context, args []string) ([]Checked, error) {
	if len(args) == 0 {
		dir, err := k.Sites.Find(nil)
		if err != nil {
			return nil, err
		}
		return []Checked{k.file(ctx, filepath.Join(dir, manifest.FileName))}, nil
	}
	results := make([]Checked, len(args))
	failed := make([]error, len(args))
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(args)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(args); i = int(next.Add(1)) - 1 {
				results[i], failed[i] = k.checkArgument(ctx, args[i])
			}
		})
	}
	workers.Wait()
	return results, errors.Join(failed...)
}

// stream checks a manifest without a folder: stdin, or a shell's <(command). A signal ends the wait for its writer.
func (k Checker) stream(ctx context.Context, name string, open func() (io.Reader, error)) (Checked, error) {
	type text struct {
		src []byte
		err error
	}
	done := make(chan text, 1)
	go func() {
		r, err := open()
		if err != nil {
			done <- text{err: err}
			return
		}
		src, err := io.ReadAll(io.LimitReader(r, userfile.MaxSource))
		done <- text{src, err}
	}()
	select {
	case <-ctx.Done():
		return Checked{}, context.Cause(ctx)
	case t := <-done:
		if t.err != nil {
			return Checked{}, fmt.Errorf("read %s: %w", name, t.err)
		}
		return k.parse(name, t.src), nil
	}
}

func (k Checker) parse(name string, src []byte) Checked {
	_, diags := manifest.Parse(name, src)
	return Checked{Report: diagnostic.NewReport(name, diags), Diagnostics: diags, Source: src}
}

// checkArgument checks the target of an argument: stdin, the site in a folder, or a manifest of any name.
func (k Checker) checkArgument(ctx context.Context, arg string) (Checked, error) {
	if arg == "-" {
		return k.stream(ctx, "stdin", func() (io.Reader, error) { return k.Sites.Terminal.Stdin, nil })
	}
	path := k.Sites.Terminal.Path(arg)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		path = filepath.Join(path, manifest.FileName)
	case err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		return k.stream(ctx, arg, func() (io.Reader, error) { return os.Open(path) })
	}
	return k.file(ctx, path), nil
}

// file checks one manifest.
func (k Checker) file(ctx context.Context, path string) Checked {
	if k.Alone {
		src, err := userfile.ReadSource(path)
		if err == nil {
			r := k.parse(k.Sites.Terminal.Shown(path), src)
			r.Looked = []string{path}
			return r
		}
	}
	fsys := os.DirFS(filepath.Dir(path))
	var seen *recorder
	if k.Record {
		seen = &recorder{FS: fsys, files: map[string]bool{}, folders: map[string]bool{}, missing: map[string]bool{}}
		fsys = seen
	}
	m, r := k.Sites.loadFrom(fsys, path, validate.LoadForUpload)
	if seen != nil {
		r.Looked = seen.paths(filepath.Dir(path))
	}
	if m != nil {
		k.checkBuild(ctx, path, m, &r)
		k.rehearse(ctx, path, m, &r)
	}
	return r
}

// rehearse runs the migrations of a site without other errors on an empty database.
func (k Checker) rehearse(ctx context.Context, path string, m *manifest.Manifest, r *Checked) {
	if !r.Report.OK {
		return
	}
	run := rehearsal.Run
	if k.Rehearsals != nil {
		run = k.Rehearsals.Run
	}
	found := run(ctx, filepath.Dir(path), m)
	diagnostic.Locate(r.Source, found)
	k.add(path, r, found)
}

// add adds diagnostics to a report.
func (k Checker) add(path string, r *Checked, found diagnostic.List) {
	if len(found) > 0 {
		r.Diagnostics = append(r.Diagnostics, found...)
		r.Diagnostics.Sort()
		r.Report = diagnostic.NewReport(k.Sites.Terminal.Shown(path), r.Diagnostics)
	}
}

// checkBuild builds a site with secrets, to find those in its output, and one with WebAssembly, to find features that pages cannot run.
// pages build reports other faults of the build.
func (k Checker) checkBuild(ctx context.Context, path string, m *manifest.Manifest, r *Checked) {
	dir := filepath.Dir(path)
	if len(m.Bindings.Secrets) > 0 {
		r.Looked = append(r.Looked, localsecrets.Paths(dir)...)
	}
	secrets, err := k.Sites.LocalSecrets(dir).ScanSet(ctx, m)
	var found diagnostic.List
	switch {
	case err != nil:
		d := diagnostic.Diagnostic{Severity: diagnostic.Error, Code: "secrets-file", Path: "/bindings/secrets", Message: err.Error()}
		if f, ok := errors.AsType[*failure.Error](err); ok {
			d.Fix = f.Fix
		}
		found = diagnostic.List{d}
		diagnostic.Locate(r.Source, found)
	case secrets != nil || m.Entry != "" && holdsWasm(dir):
		b := bundler.New(dir, bundler.Options{
			Provided: ProvidedModules(), Now: k.Sites.Terminal.Now, Secrets: func() *secretscan.Set { return secrets },
		})
		defer b.Close()
		_, found = b.Build(ctx, m)
		r.Looked = append(r.Looked, b.Inputs()...)
		found = slices.DeleteFunc(found, func(d diagnostic.Diagnostic) bool {
			return !strings.HasPrefix(d.Code, "secret-") && d.Code != bundler.WasmFeature
		})
	}
	k.add(path, r, found)
}

// holdsWasm reports whether one of the first thousands of files of a site is WebAssembly. It skips those of packages.
func holdsWasm(dir string) (found bool) {
	const most = 10_000
	seen := 0
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return fs.SkipDir
		case seen > most:
			return fs.SkipAll
		case d.IsDir() && name != "." && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, ".wasm"):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// recorder is a file tree that records each access: files by their name, whether they exist or not, and listed folders with all their
// entries. It records a missing name even below a listed folder: an empty folder of that name would have no file that shows it.
type recorder struct {
	fs.FS
	mu      sync.Mutex
	files   map[string]bool
	folders map[string]bool
	missing map[string]bool
}

// Open implements fs.FS.
func (r *recorder) Open(name string) (fs.File, error) {
	r.note(name)
	return r.FS.Open(name)
}

// Stat implements fs.StatFS.
func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	r.note(name)
	return fs.Stat(r.FS, name)
}

// Lstat implements fs.ReadLinkFS.
func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(r.FS, name)
	if err != nil || !info.IsDir() { // a folder is only a step on the way to a file
		r.note(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.mu.Lock()
		r.missing[name] = true
		r.mu.Unlock()
	}
	return info, err
}

// ReadLink implements fs.ReadLinkFS.
func (r *recorder) ReadLink(name string) (string, error) {
	r.note(name)
	return fs.ReadLink(r.FS, name)
}

// ReadDir implements fs.ReadDirFS.
func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) {
	r.mu.Lock()
	r.folders[name] = true
	r.mu.Unlock()
	return fs.ReadDir(r.FS, name)
}

// note remembers a file, unless its folder was listed.
func (r *recorder) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name != "." && !r.folders[path.Dir(name)] {
		r.files[name] = true
	}
}

// paths returns the checked paths below dir. A folder stands for its contents.
func (r *recorder) paths(dir string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, names := range [...]map[string]bool{r.files, r.folders} {
		for name := range names {
			if !r.inListed(name) {
				list = append(list, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	for name := range r.missing {
		if !slices.Contains(list, filepath.Join(dir, filepath.FromSlash(name))) {
			list = append(list, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return list
}

// inListed reports whether a folder above name was listed.
func (r *recorder) inListed(name string) bool {
	for name != "." {
		name = path.Dir(name)
		if r.folders[name] {
			return true
		}
	}
	return false
}
