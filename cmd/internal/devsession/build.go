package devsession

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// builder makes what is served of the site's folder: it implements
// devserver.Builder.
type builder struct {
	run     *session
	console *console
	bundler *bundler.Builder
	stores  *localstate.Stores
	caches  *cache.Store
	site    *sql.DB
	front   *site.Site
	until   context.Context    // ends with the dev server
	running *siteworker.Shared // what the newest revision runs; nil for none
	live    siteworker.Set
	private privateSet // what no build may hold, and nothing may show

	warned struct{ secrets, migrations string } // what was last told of them
}

func (r *session) newBuilder(ctx context.Context, k *console) (*builder, error) {
	// A new database is made by one process alone.
	unlock, err := r.state.LockMigrations(ctx)
	if err != nil {
		return nil, err
	}
	db, err := r.state.Open(ctx, statefolder.SiteFile)
	unlock()
	if err != nil {
		return nil, err
	}
	b := &builder{
		run: r, console: k, until: ctx, site: db, stores: localstate.NewStores(r.storesOptions()),
		caches: localstate.NewCaches(r.state.Dir, k.logger()),
	}
	options := r.process.Sites.BundlerOptions(r.options.AllowImport)
	options.Development, options.Secrets = true, func() *secretscan.Set { return b.private.set }
	b.bundler = bundler.New(r.dir, options)
	return b, nil
}

func (b *builder) close() {
	b.bundler.Close()
	// A request that would not end may still hold its revision: its Worker ends
	// all the same, since what it runs on is about to go.
	for _, w := range b.live.All() {
		w.Close(siteworker.DrainTime)
	}
	if err := errors.Join(b.stores.Close(), b.caches.Close()); err != nil {
		b.console.logger().Warn("close the bucket and the caches", "error", err)
	}
}

// Build implements devserver.Builder.
func (b *builder) Build(ctx context.Context, _ []string) devserver.Outcome {
	defer b.console.forget()
	m, checked := b.run.process.Sites.LoadUnread(b.run.dir)
	// Never the site's folder as such: what a site does not consist of (a log,
	// an editor's files) must not rebuild it.
	watch := append(localsecrets.Paths(b.run.dir), filepath.Join(b.run.dir, manifest.FileName), project.PersonasPath(b.run.dir))
	for _, name := range manifest.RuntimeConfigs() {
		watch = append(watch, filepath.Join(b.run.dir, name))
	}
	if m == nil {
		watch = append(watch, b.bundler.Inputs()...)
		return devserver.Outcome{Problems: b.problems(checked.Diagnostics, "The manifest was refused"), Watch: watch}
	}
	if err := b.readPrivate(ctx, m); err != nil {
		return devserver.Outcome{Problems: []devserver.Problem{secretsProblem(err)}, Watch: append(watch, b.bundler.Inputs()...)}
	}
	bundle, diags := b.bundler.Build(ctx, m)
	watch = append(watch, b.bundler.Inputs()...)
	if bundle == nil || diags.HasErrors() {
		diagnostic.Locate(checked.Source, diags)
		return devserver.Outcome{Problems: b.problems(diags, "The site could not be built"), Watch: watch}
	}
	personas, refusal := project.ReadPersonas(b.run.dir)
	if refusal != nil {
		return devserver.Outcome{Problems: b.problems(diagnostic.List{*refusal}, "The personas were refused"), Watch: watch}
	}
	if problems := b.migrate(ctx, m, checked.Source); problems != nil {
		return devserver.Outcome{Problems: problems, Watch: append(watch, b.run.state.WrittenFile())}
	}
	revision, problems := b.revision(ctx, m, bundle)
	if problems != nil {
		return devserver.Outcome{Problems: problems, Watch: watch}
	}
	b.front.SetPersonas(personas)
	info := devserver.Describe(m)
	info.Name, info.Dir = filepath.Base(b.run.dir), b.run.dir
	b.describeSecrets(ctx, m, info.Bindings)
	warnings := slices.Concat(checked.Diagnostics, diags, unasked(m, checked.Source))
	return devserver.Outcome{OK: true, Revision: revision, Problems: b.problems(warnings, "Warning"), Watch: watch, Info: info}
}

// privateSet is a set of secrets, and what it was made of: most builds need no new one.
type privateSet struct {
	set      *secretscan.Set
	list     []secretscan.Secret
	ordinary []string
}

// readPrivate reads the secrets for the next build.
func (b *builder) readPrivate(ctx context.Context, m *manifest.Manifest) error {
	list, err := b.run.process.Sites.LocalSecrets(b.run.dir).Unpublished(ctx, m.Bindings.Secrets)
	if err != nil {
		return err
	}
	next := privateSet{list: list}
	if len(list) > 0 {
		next.ordinary = b.run.process.Sites.LocalSecrets(b.run.dir).Ordinary(m)
		slices.Sort(next.ordinary)
	}
	if !slices.Equal(list, b.private.list) || !slices.Equal(next.ordinary, b.private.ordinary) {
		next.set = secretscan.New(list, secretscan.Options{Ordinary: next.ordinary})
		b.private = next
	}
	return nil
}

// unasked warns of a Worker that no route leads to: whoever writes the first one looks for
// the fault in it. The manifest is none the worse for it, and pages validate says nothing.
func unasked(m *manifest.Manifest, src []byte) diagnostic.List {
	if m.Entry == "" || len(m.Routes) > 0 {
		return nil
	}
	warning := diagnostic.List{{
		Severity: diagnostic.Warning, Code: "entry-unasked", Path: "/entry",
		Message: `no route leads to the Worker, so it is never asked: declare "routes", such as [{"pattern": "/api/*"}]`,
	}}
	diagnostic.Locate(src, warning)
	return warning
}

// revision starts the Worker, or keeps the one that runs when nothing of it has
// changed, and puts it beside the assets.
func (b *builder) revision(ctx context.Context, m *manifest.Manifest, bundle *bundler.Bundle) (site.Revision, []devserver.Problem) {
	r := site.Revision{
		ID: bundle.Digest[:12], Manifest: m, Assets: bundle.Assets, AssetsDir: filepath.Join(b.run.dir, filepath.FromSlash(m.Assets)),
		Rules: project.EdgeRules(b.run.options.EdgeRules, b.run.dir, m),
	}
	if bundle.Worker == nil {
		b.replace(nil)
		return r, nil
	}
	values, warnings, err := b.run.process.Sites.LocalSecrets(b.run.dir).Values(ctx, m.Bindings.Secrets)
	if err != nil {
		return r, []devserver.Problem{secretsProblem(err)}
	}
	b.warnOnce(&b.warned.secrets, warnings)
	key := workerKey(m, bundle.Worker, values)
	if b.running == nil || b.running.Key != key {
		w, err := b.startWorker(ctx, m, bundle.Worker, values)
		if err != nil {
			return r, []devserver.Problem{problemOf(err)}
		}
		w.Key = key
		b.replace(w)
	}
	b.running.Uses.Add(1)
	r.Worker, r.Drained = b.running, b.running.Release
	return r, nil
}

// describeSecrets says which secrets have a value, and never which.
func (b *builder) describeSecrets(ctx context.Context, m *manifest.Manifest, bindings []devserver.Binding) {
	values, _, err := b.run.process.Sites.LocalSecrets(b.run.dir).Values(ctx, m.Bindings.Secrets)
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

// warnOnce tells of warnings unless they are what was told last: not at every save.
func (b *builder) warnOnce(told *string, warnings []string) {
	if text := fmt.Sprint(warnings); text != *told {
		*told = text
		b.run.process.Terminal.ProgressWarnings(warnings)
	}
}
