package bundler

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// This file explains sources written for other tools: handlers of other platforms, modules that a framework's own
// build generates, TypeScript in files with JavaScript extensions.

var (
	madeByBuild = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(astro:|virtual:|\$(env|app)/|#(imports|build|app)(/|$))`)
	})
	ofRegistry = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(npm|jsr):/?(@[^/@]+/[^/@]+|[^/@]+)(?:@[^/]+)?(/.*)?$`)
	})
)

// otherTools explains an import that only other tools resolve.
func (e explainer) otherTools(d *diagnostic.Diagnostic, specifier string) (known bool) {
	if madeByBuild().MatchString(specifier) {
		d.Message = `"` + specifier + `" comes from a framework's own build`
		d.Fix = `run that build, and name the Worker that it writes in "entry"`
		return true
	}
	if specifier == "__STATIC_CONTENT_MANIFEST" { // wrangler generates it for the folder of "site"
		d.Message = `"` + specifier + `" belongs to Workers Sites, which the platform does not have`
		d.Fix = `name the folder of the files under "assets" in pages.deploy.json: they are served before the Worker runs, and ` +
			`env.ASSETS.fetch(request) returns one`
		return true
	}
	m := ofRegistry().FindStringSubmatch(specifier)
	if m == nil {
		return false
	}
	d.Message = `"` + specifier + `" cannot be imported: a Worker only has the packages of node_modules`
	install := packager.Of(e.dir).Add(m[2])
	if m[1] == "jsr" {
		install = "npx jsr add " + m[2]
	}
	d.Fix = `run "` + install + `" and import "` + m[2] + m[3] + `"`
	return true
}

// methods are the handlers of routes in Next.js, SvelteKit and Astro.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// namedHandlers explains a module with named handlers instead of a default export.
func namedHandlers(d *diagnostic.Diagnostic, exports []string) (known bool) {
	var named []string
	for _, name := range exports {
		if slices.Contains(methods, name) {
			named = append(named, name)
		}
	}
	whose := "a route of a framework"
	switch at := slices.IndexFunc(exports, func(name string) bool { return strings.HasPrefix(name, "onRequest") }); {
	case slices.Contains(exports, "fetch"):
		d.Message = "the Worker exports fetch by name, but has no default export"
		d.Fix = `add "export default { fetch }"`
		return true
	case len(named) > 0:
	case at >= 0:
		named, whose = exports[at:at+1], "a function of Cloudflare Pages"
		d.Fix = `add "export default { fetch: (request, env) => ` + named[0] + `({ request, env }) }"`
	case slices.Contains(exports, "handler"):
		named, whose = []string{"handler"}, "a function of Netlify or AWS"
	default:
		return false
	}
	d.Message = "the Worker exports " + strings.Join(named, " and ") + " by name, as " + whose + " does, but has no default export"
	switch {
	case len(named) > 1:
		d.Fix += ", which calls them by request.method"
	case slices.Contains(methods, named[0]):
		d.Fix = `add "export default { fetch: ` + named[0] + ` }"`
	}
	return true
}

// typedExtensions are the extensions to try for a file with errors.
var typedExtensions = map[string][]string{
	".js": {".ts", ".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}, ".jsx": {".tsx"},
	".ts": {".tsx"},
}

// extensionFix returns the fix for a file that would compile under another extension; "" for other files.
func (e explainer) extensionFix(file string) string {
	ext := path.Ext(file)
	text, err := readRegular(filepath.Join(e.dir, filepath.FromSlash(file)))
	if err != nil || !utf8.Valid(text) {
		return ""
	}
	for _, other := range typedExtensions[ext] {
		loader, what := api.LoaderTS, "TypeScript"
		if other == ".tsx" {
			loader, what = api.LoaderTSX, "TypeScript with JSX"
		}
		if len(api.Transform(string(text), api.TransformOptions{Loader: loader}).Errors) > 0 {
			continue
		}
		fix := "this is " + what + `: rename the file to "` + path.Base(strings.TrimSuffix(file, ext)+other) + `"`
		if file == e.entry {
			fix += `, in "entry" too`
		}
		return fix
	}
	return ""
}
