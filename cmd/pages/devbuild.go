package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// siteBuilder makes what is served of the site's folder: it implements
// devserver.Builder.
type siteBuilder struct {
	*devRun
	console *console
	bundler *bundler.Builder
	stores  *stores
	caches  *web.Caches
	site    *sql.DB
	front   *site.Site
	until   context.Context // ends with the dev server
	running *sharedWorker   // what the newest revision runs; nil for none
	live    workerSet
	warned  string // the warnings about secrets that were last shown

	migrated string // those about migrations
}

func (r *devRun) newBuilder(ctx context.Context, k *console) (*siteBuilder, error) {
	// A new database is made by one process alone.
	unlock, err := r.state.lockMigrations(ctx)
	if err != nil {
		return nil, err
	}
	db, err := r.state.open(ctx, siteFile)
	unlock()
	if err != nil {
		return nil, err
	}
	b := &siteBuilder{
		devRun: r, console: k, until: ctx, site: db, stores: newStores(r),
		bundler: bundler.New(r.dir, bundler.Options{Development: true, Provided: provided(), Now: r.now}),
	}
	b.caches = b.newCaches()
	return b, nil
}

func (b *siteBuilder) close() {
	b.bundler.Close()
	// A request that would not end may still hold its revision: its Worker ends
	// all the same, since what it runs on is about to go.
	for _, w := range b.live.all() {
		w.close(drainTime)
	}
	if err := errors.Join(b.stores.close(), b.caches.Close()); err != nil {
		b.console.logger().Warn("close the bucket and the caches", "error", err)
	}
}

// Build implements devserver.Builder.
func (b *siteBuilder) Build(ctx context.Context, _ []string) devserver.Outcome {
	m, checked := b.loadUnread(b.dir)
	// Never the site's folder as such: what a site does not consist of (a log,
	// an editor's files) must not rebuild it.
	watch := append(secretPaths(b.dir), filepath.Join(b.dir, manifest.FileName), personasPath(b.dir))
	if m == nil {
		watch = append(watch, b.bundler.Inputs()...)
		return devserver.Outcome{Problems: b.problems(checked.diags, "The manifest was refused"), Watch: watch}
	}
	bundle, diags := b.bundler.Build(ctx, m)
	watch = append(watch, b.bundler.Inputs()...)
	if bundle == nil || diags.HasErrors() {
		src, _ := readSource(filepath.Join(b.dir, manifest.FileName))
		manifest.Locate(src, diags)
		return devserver.Outcome{Problems: b.problems(diags, "The site could not be built"), Watch: watch}
	}
	personas, refusal := readPersonas(b.dir)
	if refusal != nil {
		return devserver.Outcome{Problems: b.problems(manifest.Diagnostics{*refusal}, "The personas were refused"), Watch: watch}
	}
	if problems := b.migrate(ctx, m); problems != nil {
		return devserver.Outcome{Problems: problems, Watch: watch}
	}
	revision, problems := b.revision(ctx, m, bundle)
	if problems != nil {
		return devserver.Outcome{Problems: problems, Watch: watch}
	}
	b.front.SetPersonas(personas)
	info := devserver.Describe(m)
	info.Name, info.Dir = filepath.Base(b.dir), b.dir
	b.describeSecrets(m, info.Bindings)
	warnings := slices.Concat(checked.diags, diags)
	return devserver.Outcome{OK: true, Revision: revision, Problems: b.problems(warnings, "Warning"), Watch: watch, Info: info}
}

// migrate brings the site's database up to date.
func (b *siteBuilder) migrate(ctx context.Context, m *manifest.Manifest) []devserver.Problem {
	if m.Bindings.Database == nil {
		return nil
	}
	unlock, err := b.state.lockMigrations(ctx)
	if err != nil {
		return []devserver.Problem{problemOf(err)}
	}
	defer unlock()
	result, err := b.migrator(b.state, b.site, b.dir, m, migrate.Options{HoldEmpty: true}).Apply(ctx)
	for _, a := range result.Applied {
		b.console.line("applied migration %s", a.Name)
	}
	for _, name := range result.Squashed {
		b.console.line("recorded %s in the place of the migrations it stands for", name)
	}
	b.warnMigrations(result.Warnings)
	if err == nil {
		return nil
	}
	problems := []devserver.Problem{{Kind: "migration", Title: "A migration failed", Message: err.Error()}}
	if diags := migrationDiagnostics(b.dir, err); diags != nil {
		problems = b.problems(diags, "A migration failed")
	}
	if stands := result.Stands(); stands != "" {
		problems[0].Notes = append(problems[0].Notes, stands)
	}
	return problems
}

// warnMigrations tells of warnings once, and not at every save.
func (b *siteBuilder) warnMigrations(notices []migrate.Notice) {
	notices = slices.DeleteFunc(notices, func(n migrate.Notice) bool { return n.Code == migrate.CodeIgnored }) // pages migrate tells
	lines := (&migrations{cli: b.cli, dir: b.dir}).warnings(notices)
	if text := fmt.Sprint(lines); text != b.migrated {
		b.migrated = text
		b.warnAll(lines)
	}
}

// revision starts the Worker, or keeps the one that runs when nothing of it has
// changed, and puts it beside the assets.
func (b *siteBuilder) revision(ctx context.Context, m *manifest.Manifest, bundle *bundler.Bundle) (site.Revision, []devserver.Problem) {
	r := site.Revision{
		ID: bundle.Digest[:12], Manifest: m, Assets: assets(bundle), AssetsDir: filepath.Join(b.dir, filepath.FromSlash(m.Assets)),
		Rules: edgeRules(b.flags.edgeRules, b.dir, m),
	}
	if bundle.Worker == nil {
		b.replace(nil)
		return r, nil
	}
	values, warnings, err := b.secrets(b.dir, m.Bindings.Secrets)
	if err != nil {
		return r, []devserver.Problem{{Kind: "secrets", Title: "The secrets could not be read", Message: err.Error()}}
	}
	b.warnSecrets(warnings)
	key := workerKey(m, bundle.Worker, values)
	if b.running == nil || b.running.key != key {
		w, err := b.startWorker(ctx, m, bundle.Worker, values)
		if err != nil {
			return r, []devserver.Problem{problemOf(err)}
		}
		w.key = key
		b.replace(w)
	}
	b.running.uses.Add(1)
	r.Worker, r.Drained = b.running, b.running.release
	return r, nil
}

// describeSecrets says which secrets have a value, and never which.
func (b *siteBuilder) describeSecrets(m *manifest.Manifest, bindings []devserver.Binding) {
	values, _, err := b.secrets(b.dir, m.Bindings.Secrets)
	for i := range bindings {
		switch _, set := values[bindings[i].Name]; {
		case err != nil || bindings[i].Kind != "secret":
		case set:
			bindings[i].Detail = "set"
		default:
			bindings[i].Detail = "missing: set it in .dev.vars or in the environment"
		}
	}
}

func (b *siteBuilder) warnSecrets(warnings []string) {
	if text := fmt.Sprint(warnings); text != b.warned {
		b.warned = text
		b.warnAll(warnings)
	}
}

func (b *siteBuilder) replace(w *sharedWorker) {
	if b.running != nil {
		b.running.retire()
	}
	if b.running = w; w != nil {
		w.uses.Add(1)
	}
}

func (b *siteBuilder) startWorker(ctx context.Context, m *manifest.Manifest, w *bundler.Worker, secrets map[string]string) (*sharedWorker, error) {
	rt, err := b.runtimes.wait()
	if err != nil {
		return nil, err
	}
	set, err := b.stores.bindings(ctx, m, b.site, secrets, b.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	mask := maskOf(secrets)
	worker, err := rt.NewWorker(ctx, pagesruntime.WorkerOptions{
		Name: w.Name, Code: w.Code, Map: w.Map, Wasm: wasmModules(w), Bindings: set,
		Limits: pagesruntime.Limits{
			CPU: time.Duration(m.Limits.CPUMs) * time.Millisecond, SubRequests: m.Limits.SubRequests,
			Mode: pagesruntime.LimitMode(b.flags.limits), CPUScale: b.flags.cpuScale,
		},
		NodeJS:   slices.Contains(m.Runtime.CompatibilityFlags, manifest.FlagNodeJS),
		Pristine: b.flags.isolation == "request",
		Console:  func(l pagesruntime.Line) { b.console.log(maskedLine(mask, l)) },
		Web:      b.webOptions(m),
		Logger:   b.console.logger(),
	})
	if err != nil {
		return nil, errors.Join(maskedError(mask, err), closeDatabases(set))
	}
	return b.live.add(b.until, worker, set, m.Limits, mask), nil
}

func wasmModules(w *bundler.Worker) map[string][]byte {
	modules := map[string][]byte{}
	for _, m := range w.Modules {
		modules[m.Specifier] = m.Bytes
	}
	return modules
}

// workerKey tells Workers apart: of two with the same key, the older can go on.
func workerKey(m *manifest.Manifest, w *bundler.Worker, secrets map[string]string) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	// Encoding plain data into a hash cannot fail.
	_ = errors.Join(enc.Encode(m.Bindings), enc.Encode(m.Limits), enc.Encode(m.Runtime), enc.Encode(secrets))
	h.Write(w.Code)
	h.Write(w.Map)
	return hex.EncodeToString(h.Sum(nil))
}

func assets(b *bundler.Bundle) []site.Asset {
	list := make([]site.Asset, len(b.Assets))
	for i, a := range b.Assets {
		list[i] = site.Asset(a)
	}
	return list
}
