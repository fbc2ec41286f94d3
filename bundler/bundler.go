// Package bundler turns a site's folder into one [Bundle]: the Worker as a single ES module with its source map, the index of
// the static files with their hashes, the migrations in order, the manifest, and one digest over all of it.
//
// Input: the folder and its manifest, which package manifest has checked. Output: a Bundle, or all diagnostics, which point
// into the author's own files. Lines and columns are 1-based and count characters.
//
// esbuild compiles the Worker in this process: TypeScript, JSX by tsconfig.json, npm packages with the export conditions of
// Workers, JSON and text files as values. Modules of Node.js and of the platform stay imports: [Options].Provided lists
// those of the runtime; others are refused.
//
// A [Builder] caches results, so that the time of a build depends on the size of the edit. It is safe for concurrent use;
// builds run one after the other. A Bundle never changes.
//
// The Worker's imports must lie in the site's checkout (package checkout): a stranger's site cannot include other files of
// the machine.
//
// A build fails if its output contains a secret of [Options].Secrets: it searches the Worker, its source map and modules,
// the static files and the migrations as it reads them (leaks.go).
//
// The package does not run the Worker, apply migrations, read secrets, watch files or follow a link out of the site's folder.
package bundler

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Options are the options of a Builder. The zero value builds for publishing.
type Options struct {
	Minify      bool   // shortens the Worker, but keeps names that programs or stack traces show
	NodeEnv     string // the value of process.env.NODE_ENV; defaults to Production
	Development bool   // the ceilings of an upload only warn
	Elsewhere   bool   // the bundle goes to another host, so the platform's ceilings only warn
	// Provided are the module specifiers that the runtime provides. "node:…" modules need the flag nodejs_compat. Nil means
	// only "cloudflare:workers".
	Provided []string
	Home     string // the folder of the user, absolute; it is never the root of a checkout
	// AllowImport are absolute folders outside of the site's checkout whose files the Worker may import.
	AllowImport []string
	// NoBundle reports whether an entry of the site in dir, and its imports, stay as another tool built them. Default: never.
	NoBundle func(dir, entry string) bool
	// Secrets returns the secrets that a Build must not contain. A nil function or result means none.
	Secrets func() *secretscan.Set
	// HashFile stores the hashes of files between processes (package hashfile); "" disables it.
	HashFile string
	Program  string           // the version of the program: hashes from other versions do not count
	Rehash   bool             // ignores stored hashes
	Now      func() time.Time // defaults to time.Now; it limits trust in the time of a file
}

// Values of process.env.NODE_ENV. Packages such as React have a build for each: the development build checks more, and
// is several times slower.
const (
	Production  = "production"
	Development = "development"
)

// Builder builds the site of one folder, repeatedly.
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

// realDir returns the absolute path of a folder without links, as esbuild names files.
func realDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

// Build reads the folder. With an error in the diagnostics the Bundle is nil. It stops early when ctx ends, with an error
// diagnostic. It neither changes nor keeps m.
func (b *Builder) Build(ctx context.Context, m *manifest.Manifest) (*Bundle, diagnostic.List) {
	return b.BuildListed(ctx, m, nil)
}

// maxListingAge is the age up to which a listing counts as the folder's present state: a command may ask a person something
// between its check of a site and the build.
const maxListingAge = 5 * time.Second

// BuildListed is Build with a recent listing of the assets folder, which saves a second walk. It ignores nil, an old listing,
// and one of another folder.
func (b *Builder) BuildListed(
	ctx context.Context, m *manifest.Manifest, listed *publicfiles.Listing,
) (*Bundle, diagnostic.List) {
	if listed != nil {
		if age := b.options.Now().Sub(listed.Taken); age < 0 || age > maxListingAge {
			listed = nil
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hashes.saving.Wait()

	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return nil, diagnostic.List{failure("site-unreadable", "the site's folder cannot be read", err)}
	}
	defer root.Close()

	var (
		reads      = newReads(b.dir)
		code       compiled
		files      assetWalk
		migrations []Migration
		faults     diagnostic.List // of the migrations
		wg         sync.WaitGroup
		secrets    *secretscan.Set
	)
	if b.options.Secrets != nil {
		secrets = b.options.Secrets()
	}
	b.hashes.begin(b.options, secrets)
	wg.Go(func() { code = b.compile(ctx, m, reads) })
	wg.Go(func() { files = walkAssets(ctx, b.dir, root, m, listed, reads, b.hashes.fill) })
	migrations, faults = readMigrations(root, m.Bindings.Database, reads)
	wg.Wait()

	files.unlimited = b.options.Development || b.options.Elsewhere
	assets, unserved := files.serve(m, code.inputs)
	b.inputs = reads.list()
	found := slices.Concat(code.diagnostics, files.diagnostics, unserved, faults)
	if secrets != nil {
		for i, d := range found { // mask secrets
			found[i].Source, found[i].Message, found[i].Fix = secrets.Star(d.Source), secrets.Star(d.Message), secrets.Star(d.Fix)
		}
		l := leaks{set: secrets, dir: b.dir, root: root}
		found = append(found, l.all(m, code, files, migrations)...)
	}
	if err := ctx.Err(); err != nil {
		found = append(found, failure("build-stopped", "the build was stopped", err))
	}
	found.Sort()
	if found.HasErrors() {
		return nil, found
	}
	slices.SortFunc(files.left, func(a, b sitefile.LeftOut) int { return cmp.Compare(a.Path, b.Path) })
	bundle := &Bundle{Worker: code.worker, Assets: assets, LeftOut: files.left, Migrations: migrations, read: files.infos()}
	if bundle.Manifest, err = canonicalJSON(m); err != nil {
		return nil, append(found, failure("manifest-unwritable", "the manifest cannot be written as JSON", err))
	}
	bundle.Digest = digest(bundle)
	return bundle, found
}

// Inputs returns the absolute paths of the files and folders that the last Build read, sorted, even after a failure: a change
// to any of them may change the next Bundle. A folder represents the files directly in it: assets and migrations are not listed
// individually.
func (b *Builder) Inputs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.inputs)
}

// Close frees the caches. It waits for a running Build and for the write of the hash file.
func (b *Builder) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hashes.saving.Wait()
	b.compiler.dispose()
	b.compiler = nil
}

// readMigrations reads the database's migrations, in bytewise order of their names. Warnings are left to package validate.
func readMigrations(root *os.Root, db *manifest.Database, reads *reads) (list []Migration, found diagnostic.List) {
	if db == nil || db.Migrations == "" {
		return nil, nil
	}
	reads.add(filepath.FromSlash(db.Migrations))
	folder, err := migrationfiles.Read(root.FS(), db.Migrations)
	if err != nil {
		d := failure("migrations-missing", "the migrations folder cannot be read", err)
		d.Path = "/bindings/database/migrations"
		return nil, diagnostic.List{d}
	}
	for _, f := range folder.Findings {
		if f.Severity == diagnostic.Error {
			found = append(found, f.Diagnostic())
		}
	}
	for _, f := range folder.Files {
		list = append(list, Migration{Name: f.Name, SQL: f.Text, SHA256: sum(f.Text)})
	}
	return list, found
}
