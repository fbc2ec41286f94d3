package bundler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/bundler/checkout"
	"github.com/pages-toolchain/pages/bundler/names"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

const (
	workerName     = "worker.js"
	maxWorkerBytes = 10 << 20 // the limit of an upload (assumption: the platform document gives no number)
)

// compiled is the result for the entry.
type compiled struct {
	worker      *Worker
	inputs      []string // relative to the site's folder, with forward slashes
	diagnostics diagnostic.List
}

// compiler is esbuild's incremental context for one target.
type compiler struct {
	target    target
	context   api.BuildContext
	imports   *imports
	minified  bool
	published bool              // process.env.NODE_ENV is Production
	settings  map[string]string // the texts of the tsconfig.json files, by path
	abandoned bool              // esbuild still runs in a stopped build

	features map[string]*wasmbinary.FeatureError // of the modules of the last build, nil for none
}

// target has the parts of the manifest that the context depends on.
type target struct {
	entry  string
	nodeJS bool
	asIs   bool // the Worker is not bundled
}

func (c *compiler) dispose() {
	if c != nil {
		c.context.Dispose()
	}
}

// compile bundles the manifest's entry. It keeps the compiler while the target and the settings stay the same.
func (b *Builder) compile(ctx context.Context, m *manifest.Manifest, reads *reads) compiled {
	t := target{entry: m.Entry, nodeJS: slices.Contains(m.Runtime.CompatibilityFlags, manifest.FlagNodeJS)}
	t.asIs = t.entry != "" && b.options.NoBundle != nil && b.options.NoBundle(b.dir, t.entry)
	if b.compiler != nil {
		outdated := b.compiler.target != t
		for path, text := range b.compiler.settings { // esbuild (0.28) caches them, even if the JSX runtime changes
			outdated = outdated || textOf(path) != text
		}
		if outdated {
			b.compiler.dispose()
			b.compiler = nil
		}
	}
	if t.entry == "" {
		return compiled{}
	}
	explain := explainer{dir: b.dir, target: t, provided: b.options.Provided, reads: reads}
	if found := explain.irregularSettings(); len(found) > 0 {
		return compiled{diagnostics: found}
	}
	if b.compiler == nil {
		c, err := newCompiler(b.dir, t, b.options)
		if err != nil {
			return compiled{diagnostics: diagnostic.List{failure("worker-invalid", "the Worker cannot be compiled", err)}}
		}
		b.compiler = c
	}
	out := b.compiler.run(ctx, explain)
	if b.compiler.abandoned {
		b.compiler = nil
	}
	return out
}

func newCompiler(dir string, t target, o Options) (*compiler, error) {
	c := &compiler{target: t, minified: o.Minify, published: cmp.Or(o.NodeEnv, Production) == Production, imports: &imports{
		provided: available(o.Provided, t.nodeJS), checkout: checkout.Find(dir, o.Home, o.AllowImport),
		asIs: t.asIs, entry: t.entry,
	}}
	environment, err := json.Marshal(cmp.Or(o.NodeEnv, Production))
	if err != nil {
		return nil, err
	}
	ctx, refused := api.Context(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   []string{"./" + t.entry},
		Outfile:       filepath.Join(dir, workerName), // never written
		Bundle:        true,
		Format:        api.FormatESModule,
		// The engine runs ES2025 without decorators; a target makes esbuild lower them.
		Target: api.ES2024,
		// Like wrangler, so that a package resolves to the same file (assumption).
		Platform:   api.PlatformBrowser,
		Conditions: []string{"workerd", "worker", "browser"},
		MainFields: []string{"browser", "module", "main"},
		Loader: map[string]api.Loader{
			".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX,
			".txt": api.LoaderText, ".html": api.LoaderText, ".sql": api.LoaderText,
		},
		Define:            map[string]string{"process.env.NODE_ENV": string(environment)},
		MinifyWhitespace:  o.Minify,
		MinifySyntax:      o.Minify,
		MinifyIdentifiers: o.Minify,
		KeepNames:         true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsEndOfFile,
		Sourcemap:         api.SourceMapExternal,
		SourcesContent:    api.SourcesContentInclude,
		Metafile:          true,
		AllowOverwrite:    true, // the entry may be called worker.js
		LogLevel:          api.LogLevelSilent,
		Plugins:           []api.Plugin{c.imports.plugin()},
	})
	if refused != nil {
		return nil, refused
	}
	c.context = ctx
	return c, nil
}

// run compiles once. It stops early when ctx ends.
func (c *compiler) run(ctx context.Context, explain explainer) compiled {
	result, late := c.rebuild(ctx, explain)
	c.settings = explain.reads.addConfigs(c.imports.sources())

	out := compiled{diagnostics: append(explain.all(result), late...)}
	if len(result.Errors) > 0 || ctx.Err() != nil {
		return out
	}
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		out.diagnostics = append(out.diagnostics, failure("worker-invalid", "the compiler's list of files cannot be read", err))
		return out
	}
	for name := range meta.Inputs { // only files on disk
		if !strings.HasPrefix(name, "(disabled):") && !strings.HasPrefix(name, required+":") && !strings.HasPrefix(name, "<") {
			out.inputs = append(out.inputs, name)
		}
	}
	out.worker = &Worker{Name: workerName, Modules: c.imports.modules()}
	if !c.published {
		out.worker.DevelopmentBuilds = developmentBuilds(out.inputs)
	}
	for _, file := range result.OutputFiles {
		switch filepath.Ext(file.Path) {
		case ".js":
			if out.worker.Code = file.Contents; !c.minified {
				out.worker.Code = names.WithoutCalls(file.Contents)
			}
		case ".map":
			if strings.HasSuffix(file.Path, ".js.map") {
				text, err := c.imports.sourceMap(file.Contents, explain.dir)
				if err != nil {
					out.diagnostics = append(out.diagnostics, failure("worker-invalid", "the Worker's source map cannot be read", err))
				}
				out.worker.Map = text
			}
		case ".css":
			out.diagnostics = append(out.diagnostics, warning("worker-css", c.target.entry,
				"link it from a page of the assets folder, or import it with { type: \"text\" }",
				"the Worker imports CSS, which is never served"))
		}
	}
	if c.target.asIs {
		c.asIs(explain, meta, &out)
	}
	out.diagnostics = append(out.diagnostics, c.decorators(explain, out.worker.Code)...)
	out.diagnostics = append(out.diagnostics, explain.module(out.worker, meta)...)
	out.diagnostics = append(out.diagnostics, c.lackingFeatures(out.worker.Modules)...)
	return out
}

// developmentBuild matches a file of a development build: react-dom-server.edge.development.js, and all of Vue, which
// checks NODE_ENV within one build. Its group is the package.
var developmentBuild = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^.*node_modules/(?:((?:@[^/]+/)?[^/]+)/.*\.development\.[cm]?js$|(vue|@vue/[^/]+)/dist/)`)
})

// developmentBuilds returns the packages whose development build is in inputs.
func developmentBuilds(inputs []string) (packages []string) {
	for _, name := range inputs {
		if m := developmentBuild().FindStringSubmatch(name); m != nil {
			packages = append(packages, m[1]+m[2])
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// WasmFeature is the code of the warning of a WebAssembly module that does not run on this machine.
const WasmFeature = "worker-wasm-feature"

// lackingFeatures warns of modules that need a feature that pages lacks. It caches the findings by the module's name, which contains the
// hash of its bytes.
func (c *compiler) lackingFeatures(modules []Module) (found diagnostic.List) {
	known := c.features
	c.features = map[string]*wasmbinary.FeatureError{}
	for _, m := range modules {
		lack, ok := known[m.Specifier]
		if !ok {
			lack, _ = errors.AsType[*wasmbinary.FeatureError](wasmbinary.Check(m.Bytes))
		}
		c.features[m.Specifier] = lack
		switch {
		case lack == nil:
		case lack.Draft():
			found = append(found, warning(WasmFeature, m.file, "compile it without that feature",
				"the module uses WebAssembly's %s, which neither pages nor production supports", lack.Feature))
		default:
			found = append(found, warning(WasmFeature, m.file,
				"compile it without that feature, or try it with `pages build --target cloudflare` and wrangler",
				"the module uses WebAssembly's %s, which production supports and pages does not: dev, test and hosted sites refuse it",
				lack.Feature))
		}
	}
	return found
}

// rebuild runs esbuild, and repeats the run if import() calls fail that the code may never reach: their errors become warnings.
func (c *compiler) rebuild(ctx context.Context, explain explainer) (result api.BuildResult, warnings diagnostic.List) {
	defer context.AfterFunc(ctx, c.context.Cancel)()
	c.imports.start(explain.reads, nil)
	first := c.runEsbuild(ctx)
	external := c.imports.failedDynamic(explain.dir, first.Errors)
	if len(external) == 0 || ctx.Err() != nil {
		return first, nil
	}
	c.imports.start(explain.reads, external)
	result = c.runEsbuild(ctx)
	for _, m := range first.Errors {
		still := func(other api.Message) bool { return other.Location != nil && *other.Location == *m.Location }
		if call, ok := unresolvedImport(explain.dir, m); ok && external[call] && !slices.ContainsFunc(result.Errors, still) {
			d := explain.message(m, "error")
			d.Severity, d.Message = "warning", d.Message+": the import fails when the code reaches it"
			warnings = append(warnings, d)
		}
	}
	return result, warnings
}

// metafile is a part of esbuild's metafile.
type metafile struct {
	Inputs map[string]struct {
		Format  string
		Imports []struct {
			Path, Kind, Original string
			External             bool
			With                 map[string]string
		}
	}
	Outputs map[string]struct {
		EntryPoint string
		Exports    []string
	}
}

// listensForFetch matches the handler of a Worker in service-worker syntax.
var listensForFetch = regexp.MustCompile(`addEventListener\(\s*["'` + "`" + `]fetch["'` + "`" + `]`)

// module reports the faults of the module as a whole.
func (e explainer) module(w *Worker, meta metafile) (found diagnostic.List) {
	for _, out := range meta.Outputs {
		if out.EntryPoint == "" || slices.Contains(out.Exports, "default") {
			continue
		}
		d := problem("worker-no-default-export", e.entry, "end it with \"export default { fetch(request, env, ctx) { … } }\"",
			"the Worker has no default export")
		if !namedHandlers(&d, out.Exports) && listensForFetch.Match(w.Code) {
			d.Message = `the Worker is written in service-worker syntax (addEventListener("fetch", …)), which the platform does not run`
			d.Fix = `turn the listener into a handler: "export default { fetch(request, env, ctx) { return …; } }"`
		}
		d.Line, d.Column, d.EndLine, d.EndColumn = 1, 1, 1, 1
		found = append(found, d)
	}
	if len(w.Code) > maxWorkerBytes {
		found = append(found, warning("worker-too-large", e.entry, "import less, or build with --minify",
			"the Worker is %s, over the limit of %s in an upload", megabytes(int64(len(w.Code))), megabytes(maxWorkerBytes)))
	}
	return found
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// irregularSettings reports settings that are not regular files, which esbuild might read without end; it skips folders. It
// reads settings in every folder from the entry's up, without a plugin.
func (e explainer) irregularSettings() (found diagnostic.List) {
	for dir := filepath.Dir(filepath.Join(e.dir, filepath.FromSlash(e.entry))); ; dir = filepath.Dir(dir) {
		for _, name := range []string{"package.json", "tsconfig.json", "jsconfig.json"} {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
				e.reads.add(file)
				found = append(found, problem("settings-wrong-kind", filepath.ToSlash(e.reads.relative(file)),
					"replace it with a file, or remove it", "%q, which configures the compiler, cannot be read: %v", name,
					errNotRegular))
			}
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// runEsbuild runs esbuild. esbuild reads settings of packages itself, and blocks on a pipe: if it does not stop at the end of ctx,
// it is abandoned together with the compiler.
func (c *compiler) runEsbuild(ctx context.Context) api.BuildResult {
	const patience = time.Second // only a blocked read of a pipe takes longer
	built := make(chan api.BuildResult, 1)
	go func() { built <- c.context.Rebuild() }()
	select {
	case result := <-built:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-built:
		return result
	case <-time.After(patience):
		c.abandoned = true
		return api.BuildResult{Errors: []api.Message{{Text: "the build was stopped: " + context.Cause(ctx).Error()}}}
	}
}
