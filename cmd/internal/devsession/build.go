package devsession

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// builder makes revisions of the site's folder. It implements devserver.Builder.
type builder struct {
	run     *session
	console *console
	bundler *bundler.Builder
	stores  *localstate.Stores
	caches  *cache.Store
	site    *sql.DB
	front   *site.Site
	until   context.Context    // ends with the dev server
	running *siteworker.Shared // the Worker of the newest revision; nil for none
	guests  guestSet
	live    siteworker.Set
	private privateSet                     // secrets that no build may contain and no output may show
	hidden  atomic.Pointer[secretscan.Set] // of private, for requests

	warned  struct{ secrets, migrations string } // the last warnings about them
	advised bool                                 // of builds for development
}

func (r *session) newBuilder(ctx context.Context, k *console) (*builder, error) {
	// Only one process may create a database.
	unlock, err := r.state.LockMigrations(ctx)
	if err != nil {
		return nil, err
	}
	db, err := r.state.Open(ctx, statefolder.SiteFile)
	unlock()
	if err != nil {
		return nil, err
	}
	stores := localstate.StoresOptions{State: r.state, Images: r.process.Images, Now: r.process.Terminal.Now}
	if r.options.ProjectState != "" {
		stores.ProjectFolder = r.process.Terminal.Path(r.options.ProjectState)
	}
	b := &builder{
		run: r, console: k, until: ctx, site: db, stores: localstate.NewStores(stores),
		caches: localstate.NewCaches(r.state.Dir, k.logger()),
	}
	options := r.process.Sites.BundlerOptions(r.options.AllowImport)
	options.NodeEnv, options.Development, options.Secrets = r.nodeEnv(), true, func() *secretscan.Set { return b.private.set }
	b.bundler = bundler.New(r.dir, options)
	return b, nil
}

// nodeEnv is the value of process.env.NODE_ENV: that of --mode, else that of the environment, as for wrangler.
func (r *session) nodeEnv() string {
	inherited, _ := r.process.Terminal.Lookup("NODE_ENV")
	return cmp.Or(r.options.Mode, inherited, bundler.Development)
}

func (b *builder) close() {
	b.bundler.Close()
	if b.guests.set != nil {
		b.run.bindings.Forget(b.guests.set)
	}
	// An unfinished request may still hold its revision. Its Worker ends nevertheless, before its stores close.
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
	load := b.run.process.Sites.LoadUnread
	if b.run.frontend != nil {
		load = b.run.process.Sites.LoadBehind
	}
	m, checked := load(b.run.dir)
	// Watch the parts of the site, not its folder: other files there (a log, an editor's files) must not start a build.
	watch := append(localsecrets.Paths(b.run.dir), filepath.Join(b.run.dir, manifest.FileName), project.PersonasPath(b.run.dir))
	for _, name := range manifest.RuntimeConfigs() {
		watch = append(watch, filepath.Join(b.run.dir, name))
	}
	if m == nil {
		watch = append(watch, b.bundler.Inputs()...)
		return devserver.Outcome{Problems: b.problems(checked.Diagnostics, "The manifest was refused"), Watch: watch}
	}
	if b.run.frontend != nil {
		m = b.run.frontend.without(m)
	}
	if err := b.readPrivate(ctx, m); err != nil {
		return devserver.Outcome{Problems: []devserver.Problem{secretsProblem(err)}, Watch: append(watch, b.bundler.Inputs()...)}
	}
	bundle, diags := b.bundler.BuildListed(ctx, m, checked.Public)
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
	info.Name, info.Dir = siteName(b.run.dir), b.run.dir
	if m.Entry != "" {
		info.Engine = b.run.options.Engine.String()
	}
	b.describeSecrets(ctx, m, info.Bindings)
	warnings := slices.Concat(checked.Diagnostics, diags, unroutedWorker(m, checked.Source))
	return devserver.Outcome{OK: true, Revision: revision, Problems: b.problems(warnings, "Warning"), Watch: watch, Info: info}
}

// privateSet is a set of secrets with its sources. Most builds reuse it.
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
		b.hidden.Store(next.set)
	}
	return nil
}

// unroutedWorker warns of a Worker without routes: authors of their first one look for the mistake in its code. The manifest is valid, so
// pages validate does not report it.
func unroutedWorker(m *manifest.Manifest, src []byte) diagnostic.List {
	if m.Entry == "" || len(m.Routes) > 0 {
		return nil
	}
	warning := diagnostic.List{{
		Severity: diagnostic.Warning, Code: "entry-unasked", Path: "/entry",
		Message: `no route leads to the Worker, so it never runs: declare "routes", such as [{"pattern": "/api/*"}]`,
	}}
	diagnostic.Locate(src, warning)
	return warning
}

// revision starts the Worker, or reuses the running one if it has not changed, and combines it with the assets.
func (b *builder) revision(ctx context.Context, m *manifest.Manifest, bundle *bundler.Bundle) (site.Revision, []devserver.Problem) {
	r := site.Revision{
		ID: bundle.Digest[:12], Manifest: m, Assets: bundle.Assets, AssetsDir: filepath.Join(b.run.dir, filepath.FromSlash(m.Assets)),
		Rules: b.run.process.Sites.LoadEdgeRules(b.run.dir, m),
	}
	if b.run.frontend != nil {
		r.Upstream, r.Rules = b.run.frontend.proxy, nil
		b.run.frontend.proxy.SetRoutes(m)
	}
	values, warnings, err := b.run.process.Sites.LocalSecrets(b.run.dir).Values(ctx, m.Bindings.Secrets)
	if err != nil {
		return r, []devserver.Problem{secretsProblem(err)}
	}
	if err := b.bindGuests(ctx, m, values); err != nil {
		return r, []devserver.Problem{problemOf(err)}
	}
	if bundle.Worker == nil {
		b.replace(nil)
		return r, nil
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
		b.adviseOnce(bundle.Worker.DevelopmentBuilds)
	}
	b.running.Uses.Add(1)
	r.Worker, r.Drained = b.running, b.running.Release
	return r, nil
}

// guestSet is the set of bindings for other processes, on the stores of the Worker.
type guestSet struct {
	key string
	set *binding.Set
}

// bindGuests gives those processes the bindings of the manifest, unless they have them already.
func (b *builder) bindGuests(ctx context.Context, m *manifest.Manifest, secrets map[string]string) error {
	key, err := json.Marshal([]any{m.Bindings, m.Assets, secrets})
	if err != nil || string(key) == b.guests.key {
		return err
	}
	set, err := b.stores.Bindings(ctx, m, b.site, secrets, b.front.AssetsHandler())
	if err != nil {
		return err
	}
	b.run.bindings.Rebind(set, cache.Handler(b.caches, b.run.process.Terminal.Now))
	b.guests = guestSet{string(key), set}
	return nil
}

// adviseOnce enables the hint about a slow request once, for the first Worker with development builds.
func (b *builder) adviseOnce(packages []string) {
	if len(packages) > 0 && !b.advised {
		b.advised = true
		b.console.setDevelopment(packages)
	}
}

// describeSecrets lists the secrets with a value and those without, never the values.
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

// warnOnce prints warnings if they differ from the last ones. Not every save repeats them.
func (b *builder) warnOnce(last *string, warnings []string) {
	if text := fmt.Sprint(warnings); text != *last {
		*last = text
		b.run.process.Terminal.ProgressWarnings(warnings)
	}
}

// migrate brings the site's database up to date. src is the text of the manifest.
func (b *builder) migrate(ctx context.Context, m *manifest.Manifest, src []byte) []devserver.Problem {
	if m.Bindings.Database == nil {
		return nil
	}
	unlock, err := b.run.state.LockMigrations(ctx)
	if err != nil {
		return []devserver.Problem{problemOf(err)}
	}
	defer unlock()
	result, err := b.run.state.Migrator(b.site, b.run.dir, m, migrate.Options{
		HoldEmpty: true, Now: b.run.process.Terminal.Now, Tool: b.run.process.Tool,
	}).Apply(ctx)
	for _, a := range result.Applied {
		b.console.line("applied migration %s", a.Name)
	}
	for _, name := range result.Squashed {
		b.console.line("recorded %s in place of the migrations that it replaces", name)
	}
	notices := slices.DeleteFunc(result.Warnings, migrate.Notice.OfFolder) // the site's check reports these
	b.warnOnce(&b.warned.migrations, migration.Warnings(userfile.WorkDir(b.run.process.Terminal.Dir), b.run.dir, notices))
	if err == nil {
		return nil
	}
	problems := []devserver.Problem{{Kind: "migration", Title: "A migration failed", Message: err.Error()}}
	if diags := migration.Diagnostics(b.run.dir, err); diags != nil {
		diagnostic.Locate(src, diags)
		problems = b.problems(diags, "A migration failed")
	}
	if stands := result.Stands(); stands != "" {
		problems[0].Notes = append(problems[0].Notes, stands)
	}
	return problems
}

func (b *builder) startWorker(
	ctx context.Context, m *manifest.Manifest, w *bundler.Worker, secrets map[string]string,
) (*siteworker.Shared, error) {
	set, err := b.stores.Bindings(ctx, m, b.site, secrets, b.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	mask := siteworker.MaskOf(secrets)
	o := siteworker.Options(m)
	o.Name, o.Code, o.Map, o.Wasm, o.Bindings = w.Name, w.Code, w.Map, map[string][]byte{}, set
	o.Scripts, o.Folder = map[string]pagesruntime.Script{}, w.Folder
	for _, module := range w.Modules {
		if module.Kind == bundler.KindScript {
			o.Scripts[module.Specifier] = pagesruntime.Script{Text: string(module.Bytes), Map: module.Map}
			continue
		}
		o.Wasm[module.Specifier] = module.Bytes
	}
	o.Compiling = func() func() { return b.console.wait(compileNotice(w.Modules)) }
	o.Limits.Mode, o.Limits.CPUScale = pagesruntime.LimitMode(b.run.options.Limits), b.run.options.CPUScale
	o.Pristine = b.run.options.Isolation == "request"
	o.MapStacks = true
	o.HideMeter = func(r *http.Request) bool { return loopback.ExternalOf(r.Context()) != nil }
	o.Logger = b.console.logger()
	o.Console = func(l pagesruntime.Line) { b.console.log(siteworker.MaskLine(mask, l)) }
	o.Web.AllowFetch, o.Web.Self, o.Web.IsSelf = b.run.options.AllowFetch, b.front, b.isSelf
	o.Web.Caches, o.Web.Now, o.Web.Logger = b.caches, b.run.process.Terminal.Now, o.Logger
	worker, err := b.run.engine.NewWorker(ctx, o)
	if err != nil {
		return nil, errors.Join(siteworker.MaskError(mask, err), siteworker.CloseDatabases(set))
	}
	metered := m.Limits
	metered.CPUMs = max(1, int(float64(metered.CPUMs)*b.run.options.CPUScale))
	return b.live.Add(b.until, worker, set, metered, mask), nil
}

func (b *builder) replace(w *siteworker.Shared) {
	if b.running != nil {
		b.running.Retire()
	}
	if b.running = w; w != nil {
		w.Uses.Add(1)
	}
}

// compileNotice returns the notice that WebAssembly modules are being compiled.
func compileNotice(modules []bundler.Module) string {
	bytes := int64(0)
	modules = slices.DeleteFunc(slices.Clone(modules), func(m bundler.Module) bool { return m.Kind == bundler.KindScript })
	for _, m := range modules {
		bytes += int64(len(m.Bytes))
	}
	what := wording.Count(len(modules), "WebAssembly module")
	if len(modules) == 1 {
		what = path.Base(modules[0].Specifier)
		if _, name, hashed := strings.Cut(what, "-"); hashed {
			what = name
		}
	}
	return fmt.Sprintf("compiling %s (%s), which takes long the first time", wording.Printable(what), wording.Size(bytes))
}

// workerKey identifies Workers: with an equal key, the running Worker stays.
func workerKey(m *manifest.Manifest, w *bundler.Worker, secrets map[string]string) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	// Encoding plain data into a hash cannot fail.
	_ = errors.Join(enc.Encode(m.Bindings), enc.Encode(m.Limits), enc.Encode(m.Runtime), enc.Encode(secrets))
	h.Write(w.Code)
	h.Write(w.Map)
	for _, module := range w.Modules {
		_ = errors.Join(enc.Encode(module.Specifier), enc.Encode(module.Bytes), enc.Encode(module.Map))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isSelf reports whether the host of a URL, with its port if it has one, names this dev server: one of its names with its own port, or the
// name of a tunnel without a port.
func (b *builder) isSelf(host string) bool {
	u := url.URL{Host: host}
	if u.Port() == "" {
		return slices.Contains(b.run.options.AllowHosts, u.Hostname()) // names below one may belong to other servers
	}
	return u.Port() == strconv.Itoa(b.run.sockets.Port) && b.run.answersTo(u.Hostname())
}

// siteName is the name of the site in messages, usually that of its folder.
func siteName(dir string) string { return filepath.Base(dir) }
