package bundler

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/bundler/checkout"
)

// imports is the esbuild plugin for modules that the runtime provides, WebAssembly and .bin files. It keeps files outside of
// the checkout out of a build: otherwise a stranger's site could serve or publish files of this machine. It also records every
// loaded file, which esbuild does only for successful builds.
type imports struct {
	provided map[string]string // see available
	checkout *checkout.Checkout

	mu     sync.Mutex
	reads  *reads
	loaded []string // absolute
	wasm   map[string]Module

	dynamic  map[importCall]bool // import() of missing modules
	external map[importCall]bool // those that may fail at run time

	asIs    bool   // modules of the entry's folder stay unchanged
	entry   string // relative to the site's folder
	renamed string // the reason why they cannot; "" if they can
}

// importCall is a specifier and the absolute path of the file that imports it.
type importCall struct{ importer, specifier string }

// start begins a build.
func (i *imports) start(r *reads, external map[importCall]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reads, i.loaded, i.wasm = r, nil, map[string]Module{}
	i.dynamic, i.external, i.renamed = map[importCall]bool{}, external, ""
	i.checkout.Refresh()
}

// rename records the reason why modules cannot stay unchanged.
func (i *imports) rename(format string, args ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.renamed == "" {
		i.renamed = fmt.Sprintf(format, args...)
	}
}

// notAsIs returns the reason why modules cannot stay unchanged; "" if they can.
func (i *imports) notAsIs() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.renamed
}

func (i *imports) sources() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.loaded)
}

func (i *imports) modules() []Module {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.SortedFunc(maps.Values(i.wasm), func(a, b Module) int { return strings.Compare(a.Specifier, b.Specifier) })
}

const required = "required" // esbuild's namespace for the modules that wrap provided ones for require

func (i *imports) plugin() api.Plugin {
	return api.Plugin{Name: "pages", Setup: func(build api.PluginBuild) {
		var provided []string
		for specifier := range i.provided {
			provided = append(provided, regexp.QuoteMeta(specifier))
		}
		if len(provided) > 0 {
			filter := "^(" + strings.Join(provided, "|") + ")$"
			build.OnResolve(api.OnResolveOptions{Filter: filter}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				if args.Kind == api.ResolveJSRequireCall { // an ES module has no require: a module of ours wraps the import
					return api.OnResolveResult{Path: i.provided[args.Path], Namespace: required}, nil
				}
				if args.Path != i.provided[args.Path] {
					i.rename("it imports %q, which is %q", args.Path, i.provided[args.Path])
				}
				return api.OnResolveResult{Path: i.provided[args.Path], External: true}, nil
			})
			load := api.OnLoadOptions{Filter: `.*`, Namespace: required}
			build.OnLoad(load, func(args api.OnLoadArgs) (api.OnLoadResult, error) { // the platform's own modules have no default export
				js := fmt.Sprintf("import * as all from %q; module.exports = \"default\" in all ? all.default : all;", args.Path)
				return api.OnLoadResult{Contents: &js, Loader: api.LoaderJS}, nil
			})
		}
		build.OnResolve(api.OnResolveOptions{Filter: `^(cloudflare|node):`}, i.resolveAbsent)
		build.OnResolve(api.OnResolveOptions{Filter: `^(https?:)?//`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return refuse("import-url", "install the package with npm and import it by name",
				fmt.Sprintf("%q cannot be imported: a Worker loads no code from the network", args.Path))
		})
		build.OnResolve(api.OnResolveOptions{Filter: `\.wasm(\?module)?$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return i.resolveWasm(build, args)
		})
		build.OnLoad(api.OnLoadOptions{Filter: `\.bin$`}, i.loadBinary)
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, i.loadText)
	}}
}

// available maps the specifiers in source code to modules of the runtime: modules of Node.js only with the flag, but then
// also without "node:".
func available(provided []string, nodeJS bool) map[string]string {
	names := map[string]string{}
	for _, specifier := range provided {
		if needsNodeJS(specifier) && !nodeJS {
			continue
		}
		name, node := strings.CutPrefix(specifier, "node:")
		names[specifier] = specifier
		if node && !onlyPrefixed(name) {
			names[name] = specifier
		}
	}
	return names
}

// needsNodeJS reports whether a module needs the flag nodejs_compat: those of Node.js, and the adapter for its servers.
func needsNodeJS(specifier string) bool {
	return strings.HasPrefix(specifier, "node:") || specifier == "cloudflare:node"
}

// resolveAbsent records import() calls of missing modules. esbuild accepts those whose rejection the code handles, and refuses
// others.
func (i *imports) resolveAbsent(args api.OnResolveArgs) (api.OnResolveResult, error) {
	if args.Kind != api.ResolveJSDynamicImport {
		return api.OnResolveResult{}, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	c := importCall{args.Importer, args.Path}
	i.dynamic[c] = true
	return api.OnResolveResult{External: i.external[c]}, nil
}

// failedDynamic returns the import() calls that caused errors.
func (i *imports) failedDynamic(dir string, errors []api.Message) map[importCall]bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	found := map[importCall]bool{}
	for _, m := range errors {
		if c, ok := unresolvedImport(dir, m); ok && i.dynamic[c] {
			found[c] = true
		}
	}
	return found
}

// unresolvedImport returns the import of an error about an unresolved import.
func unresolvedImport(dir string, m api.Message) (importCall, bool) {
	hit := unresolved.FindStringSubmatch(m.Text)
	if hit == nil || m.Location == nil {
		return importCall{}, false
	}
	return importCall{filepath.Join(dir, m.Location.File), hit[1]}, true
}

// refusal is the Detail of the plugin's own messages.
type refusal struct{ code, fix string }

func refuse(code, fix, text string) (api.OnResolveResult, error) {
	return api.OnResolveResult{Errors: []api.Message{{Text: text, Detail: refusal{code, fix}}}}, nil
}

// loadText records the file, and leaves the loading to esbuild when its bytes are UTF-8: esbuild (0.28) hangs on a text
// whose last character is truncated, such as é in Latin-1, when it quotes the text for the source map.
func (i *imports) loadText(args api.OnLoadArgs) (api.OnLoadResult, error) {
	loader, isText := textLoaders[args.With["type"]]
	data, refused, err := i.read(args.Path, loader == api.LoaderDefault && isScript(args.Path))
	if len(refused) > 0 {
		return api.OnLoadResult{Errors: refused}, nil
	}
	if err != nil || !isText || utf8.Valid(data) {
		return api.OnLoadResult{}, nil //nolint:nilerr // esbuild reports the error
	}
	text := string([]rune(string(data))) // with U+FFFD for each invalid byte
	result := api.OnLoadResult{Contents: &text, Loader: loader}
	if !ofPackage(args.Path) {
		result.Warnings = []api.Message{notUTF8(i.reads.relative(args.Path), text, data)}
	}
	return result, nil
}

// textLoaders are the loaders for the import attribute "type"; "bytes" and unknown types have none.
var textLoaders = map[string]api.Loader{"": api.LoaderDefault, "text": api.LoaderText, "json": api.LoaderJSON}

// notUTF8 returns the warning about the first invalid byte of data, from which text was made.
func notUTF8(path, text string, data []byte) api.Message {
	at := 0
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	return api.Message{
		Text:   "a byte here is not UTF-8, and becomes U+FFFD",
		Detail: refusal{"not-utf8", "save the file as UTF-8"},
		Location: &api.Location{
			File: path, Line: strings.Count(text[:at], "\n") + 1, Column: at - begin,
			Length: utf8.RuneLen(utf8.RuneError), LineText: line,
		},
	}
}

// read reads the file of an import, and records it. refused are the messages for a forbidden import. code is set for a script.
func (i *imports) read(path string, code bool) (data []byte, refused []api.Message, err error) {
	i.mu.Lock()
	i.loaded = append(i.loaded, path)
	i.reads.add(path)
	i.mu.Unlock()
	name := filepath.ToSlash(i.reads.relative(path))
	if !i.checkout.Holds(path) {
		target, err := filepath.EvalSymlinks(path)
		if err != nil { // it is in an archive
			target = path
		}
		return nil, []api.Message{{
			Text: fmt.Sprintf("%q cannot be imported: it is in %q, outside the site's checkout, %q",
				name, filepath.ToSlash(filepath.Dir(target)), filepath.ToSlash(i.checkout.Root())),
			Detail: refusal{"import-outside", "move it into the checkout; if you trust the site, pass its folder with --allow-import"},
		}}, nil
	}
	data, err = readRegular(path)
	switch {
	case errors.Is(err, errNotRegular):
		return nil, []api.Message{{
			Text:   `"` + name + `" cannot be imported: ` + errNotRegular.Error(),
			Detail: refusal{"import-kind", "replace it with a file"},
		}}, nil
	case err == nil && !code && i.checkout.Credentials(path, data):
		return nil, []api.Message{{
			Text: `"` + name + `" cannot be imported: it is a file for keys and passwords, and everyone who reads the Worker would ` +
				`have them`,
			Detail: refusal{"import-credentials", `declare the value that the Worker needs in "secrets", and read env.NAME`},
		}}, nil
	}
	return data, nil, err
}

// loadBinary loads the file as an ArrayBuffer, like wrangler.
func (i *imports) loadBinary(args api.OnLoadArgs) (api.OnLoadResult, error) {
	if len(args.With) > 0 { // the import has a type
		return api.OnLoadResult{}, nil
	}
	data, refused, err := i.read(args.Path, false)
	if err != nil || len(refused) > 0 {
		return api.OnLoadResult{Errors: refused}, err
	}
	js := `export default Uint8Array.fromBase64("` + base64.StdEncoding.EncodeToString(data) + `").buffer`
	return api.OnLoadResult{Contents: &js, Loader: api.LoaderJS}, nil
}

// resolving marks the calls of esbuild's resolver by resolveWasm.
type resolving struct{}

// resolveWasm leaves the import to the runtime, under a name with the hash of the bytes.
func (i *imports) resolveWasm(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	if _, own := args.PluginData.(resolving); own || len(args.With) > 0 {
		return api.OnResolveResult{}, nil
	}
	found := build.Resolve(strings.TrimSuffix(args.Path, "?module"), api.ResolveOptions{
		Importer: args.Importer, Namespace: args.Namespace, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: resolving{},
	})
	if len(found.Errors) > 0 || found.Namespace != "file" {
		for n := range found.Errors {
			found.Errors[n].Location = nil // esbuild sets the import statement's instead
		}
		return api.OnResolveResult{Errors: found.Errors}, nil
	}
	data, refused, err := i.read(found.Path, false)
	if err != nil || len(refused) > 0 {
		return api.OnResolveResult{Errors: refused}, err
	}
	if !strings.HasPrefix(string(data), "\x00asm") {
		return refuse("import-wasm", "", fmt.Sprintf("%q is not a WebAssembly module", args.Path))
	}
	m := Module{
		Specifier: "./" + sum(data)[:16] + "-" + filepath.Base(found.Path), Kind: KindWasm, Bytes: data,
		file: filepath.ToSlash(i.reads.relative(found.Path)),
	}
	if i.asIs {
		at := specifierIn(path.Dir(i.entry), m.file)
		importer := path.Dir(specifierIn(path.Dir(i.entry), filepath.ToSlash(i.reads.relative(args.Importer))))
		if strings.HasPrefix(at, "./../") || "./"+path.Join(importer, args.Path) != at {
			i.rename("it imports %q by a name other than its path", args.Path)
		} else {
			m.Specifier = at
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wasm[m.Specifier] = m
	return api.OnResolveResult{Path: m.Specifier, External: true}, nil
}

// nodeModules are the modules of Node.js 24, https://nodejs.org/api/modules.html#built-in-modules: first submodules, last the
// modules that require "node:".
var nodeModules = strings.Fields(`
_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server
_stream_duplex _stream_passthrough _stream_readable _stream_transform
_stream_wrap _stream_writable _tls_common _tls_wrap
assert assert/strict async_hooks buffer child_process cluster console constants
crypto dgram diagnostics_channel dns dns/promises domain events fs fs/promises
http http2 https inspector inspector/promises module net os path path/posix
path/win32 perf_hooks process punycode querystring readline readline/promises
repl stream stream/consumers stream/promises stream/web string_decoder sys
timers timers/promises tls trace_events tty url util util/types v8 vm wasi
worker_threads zlib
sea sqlite test test/reporters`)

// onlyPrefixed reports whether a module needs its "node:", so that the bare name is that of an npm package.
func onlyPrefixed(name string) bool {
	return name == "sea" || name == "sqlite" || name == "test" || name == "test/reporters"
}

// sourceMap removes the text of files outside of the checkout from a source map: esbuild (0.28) reads a file that the
// map of a package names by a file URL, without asking plugins.
func (i *imports) sourceMap(text []byte, dir string) ([]byte, error) {
	var m struct {
		Sources  []string          `json:"sources"`
		Contents []json.RawMessage `json:"sourcesContent"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	changed := false
	for n := range m.Sources[:min(len(m.Sources), len(m.Contents))] {
		if path := sourcePath(m.Sources[n], dir); exists(path) && !i.mayShow(path, m.Contents[n]) { // most sources of packages do not exist
			m.Contents[n], changed = json.RawMessage("null"), true
		}
	}
	if !changed {
		return text, nil
	}
	contents, err := json.Marshal(m.Contents)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	all["sourcesContent"] = contents
	return json.Marshal(all)
}

// mayShow reports whether a source map may contain the text of a file, a JSON string.
func (i *imports) mayShow(path string, text json.RawMessage) bool {
	switch {
	case !i.checkout.Holds(path):
		return false
	case isScript(path):
		return true
	}
	var content string
	return json.Unmarshal(text, &content) != nil || !i.checkout.Credentials(path, []byte(content))
}

// sourcePath returns the path of a source in a map, which is relative to dir or a URL.
func sourcePath(source, dir string) string {
	if u, err := url.Parse(source); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	if source = filepath.FromSlash(source); !filepath.IsAbs(source) {
		source = filepath.Join(dir, source)
	}
	return source
}
