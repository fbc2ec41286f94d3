// Package bundler turns a site's folder into one [Bundle]: the Worker as a
// single ES module with its source map, the index of the static files with
// their hashes, the migrations in order, the manifest, and one digest over all
// of it.
//
// In go the folder and its manifest (package manifest says whether that is
// right); out comes a Bundle, or diagnostics that point into the author's own
// files. Lines and columns are 1-based and count characters. Everything that is
// wrong is told at once.
//
// The Worker is compiled by esbuild, in this process: TypeScript, JSX as
// tsconfig.json says, npm packages by the conditions that Workers use, JSON and
// text files as values. Node's own modules and the platform's are not compiled
// in: [Options].Provided names those that the runtime has, any other is
// refused by name.
//
// A [Builder] keeps what it learnt, so that building again after an edit costs
// about the edit. It may be used by several goroutines; builds happen one after
// the other. A Bundle never changes once it is returned.
//
// What the Worker imports lies in the site's checkout (package checkout), or is
// refused by name: a stranger's site takes in no file of who builds it.
//
// Nothing is built that holds a secret of [Options].Secrets: the Worker and its
// source map, its modules, the static files and the migrations are looked through
// while they are read anyway (leaks.go).
//
// The package does not run the Worker, apply migrations, read secrets, watch
// files or follow a link out of the site's folder.
package bundler

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// Options are a Builder's. The zero value builds what is published.
type Options struct {
	// Minify shortens the Worker. Names that programs or stack traces show stay.
	Minify bool
	// Development makes process.env.NODE_ENV "development"; it is "production"
	// otherwise.
	Development bool
	// Provided are the module specifiers that the runtime provides. "node:…"
	// ones count only under the flag nodejs_compat. Nil stands for
	// "cloudflare:workers" alone.
	Provided []string
	// Home is the folder of the user, absolute. It is never the root of a checkout.
	Home string
	// AllowImport are absolute folders outside of the site's checkout whose files the Worker
	// may import.
	AllowImport []string
	// Secrets is asked by each Build for what may stand in nothing that it makes. Nil,
	// and what returns nil, looks for nothing.
	Secrets func() *secretscan.Set
	// Now defaults to time.Now. It tells how far a file's time may be trusted.
	Now func() time.Time
}

// Builder builds the site of one folder, again and again.
type Builder struct {
	dir     string
	options Options

	mu       sync.Mutex // held through a Build
	compiler *compiler  // nil until there is an entry to compile
	hashes   hashCache
	inputs   []string
}

// New returns a Builder for the site in dir. Close it.
func New(dir string, o Options) *Builder {
	if o.Provided == nil {
		o.Provided = []string{"cloudflare:workers"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Builder{dir: realDir(dir), options: o, hashes: hashCache{now: o.Now}}
}

// realDir is a folder by its absolute path without links. esbuild names files so;
// ours are to match.
func realDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

// Build reads the folder as it is now. With any error among the diagnostics
// there is no Bundle; with warnings only there is one. It stops early when ctx
// ends, with an error diagnostic that says so. m is not changed or kept.
func (b *Builder) Build(ctx context.Context, m *manifest.Manifest) (*Bundle, diagnostic.List) {
	b.mu.Lock()
	defer b.mu.Unlock()

	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return nil, diagnostic.List{failed("site-unreadable", "the site's folder cannot be read", err)}
	}
	defer root.Close()

	var (
		reads      = newReads(b.dir)
		code       compiled
		files      walked
		migrations []Migration
		order      diagnostic.List
		wg         sync.WaitGroup
	)
	secrets := b.secrets()
	b.hashes.lookFor(secrets)
	wg.Go(func() { code = b.compile(ctx, m, reads) })
	wg.Go(func() { files = b.walkAssets(ctx, root, m, reads) })
	migrations, order = readMigrations(root, m.Bindings.Database, reads)
	wg.Wait()

	assets, unserved := files.serve(m, code.inputs)
	b.inputs = reads.list()
	found := slices.Concat(code.diagnostics, files.diagnostics, unserved, order)
	if secrets != nil {
		l := leaks{set: secrets, dir: b.dir, root: root}
		found = append(l.hide(found), l.all(m, code, files, migrations)...)
	}
	if err := ctx.Err(); err != nil {
		found = append(found, failed("build-stopped", "the build was stopped", err))
	}
	found.Sort()
	if found.HasErrors() {
		return nil, found
	}
	bundle := &Bundle{Worker: code.worker, Assets: assets, LeftOut: files.leftOut(), Migrations: migrations, read: files.read()}
	if bundle.Manifest, err = canonicalJSON(m); err != nil {
		return nil, append(found, failed("manifest-unwritable", "the manifest cannot be written as JSON", err))
	}
	bundle.Digest = digest(bundle)
	return bundle, found
}

func (b *Builder) secrets() *secretscan.Set {
	if b.options.Secrets == nil {
		return nil
	}
	return b.options.Secrets()
}

// Inputs are the absolute paths of the files and folders that the last Build read,
// sorted, also when it failed: a change of any of them may change the next Bundle. A
// folder stands for every file directly in it: assets and migrations are not listed
// one by one.
func (b *Builder) Inputs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.inputs)
}

// Close frees what the Builder keeps. A Build that is under way ends first.
func (b *Builder) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.compiler.dispose()
	b.compiler = nil
}
