package bundler

import (
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/bundler/checkout"
)

// imports is the esbuild plugin for what esbuild does not know: modules that
// the runtime provides, WebAssembly and .bin files. It also notes every file
// that is loaded, which esbuild tells only of builds that succeed.
type imports struct {
	provided map[string]string // see available
	checkout *checkout.Checkout

	mu     sync.Mutex
	reads  *reads
	loaded []string // absolute
	wasm   map[string]Module

	asked   map[called]bool // by import(), of modules that nobody provides
	granted map[called]bool // those of them that are left to fail when they are reached
}

// called is a specifier and the absolute path of the file that imports it.
type called struct{ importer, specifier string }

// start forgets the last build.
func (i *imports) start(r *reads, granted map[called]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reads, i.loaded, i.wasm = r, nil, map[string]Module{}
	i.asked, i.granted = map[called]bool{}, granted
	i.checkout.Refresh()
}

func (i *imports) sources() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.loaded)
}

func (i *imports) modules() []Module {
	i.mu.Lock()
	defer i.mu.Unlock()
	var list []Module
	for _, m := range i.wasm {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Specifier, b.Specifier) })
	return list
}

func (i *imports) plugin() api.Plugin {
	return api.Plugin{Name: "pages", Setup: func(build api.PluginBuild) {
		if len(i.provided) > 0 {
			build.OnResolve(api.OnResolveOptions{Filter: anyOf(maps.Keys(i.provided))}, i.resolveProvided)
			build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: required}, loadRequired)
		}
		build.OnResolve(api.OnResolveOptions{Filter: `^(cloudflare|node):`}, i.resolveAbsent)
		build.OnResolve(api.OnResolveOptions{Filter: `^(https?:)?//`}, refuseURL)
		build.OnResolve(api.OnResolveOptions{Filter: `\.wasm(\?module)?$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return i.resolveWasm(build, args)
		})
		build.OnLoad(api.OnLoadOptions{Filter: `\.bin$`}, i.loadBinary)
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, i.loadText)
	}}
}

// available maps what an author may write to the module that the runtime
// provides: modules of Node.js only under the flag, but then also without
// "node:".
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

// needsNodeJS reports whether a module counts only under the flag nodejs_compat:
// those of Node.js, and what brings requests to its servers.
func needsNodeJS(specifier string) bool {
	return strings.HasPrefix(specifier, "node:") || specifier == "cloudflare:node"
}

// anyOf is a regular expression for exactly the words.
func anyOf(words iter.Seq[string]) string {
	var quoted []string
	for word := range words {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// required is esbuild's namespace for the modules that are made by loadRequired.
const required = "required"

// resolveProvided leaves the import to the runtime. An ES module has no require,
// so what CommonJS code requires is a module of ours around the import.
func (i *imports) resolveProvided(args api.OnResolveArgs) (api.OnResolveResult, error) {
	if args.Kind == api.ResolveJSRequireCall {
		return api.OnResolveResult{Path: i.provided[args.Path], Namespace: required}, nil
	}
	return api.OnResolveResult{Path: i.provided[args.Path], External: true}, nil
}

// resolveAbsent notes what import() asks for and nobody provides. esbuild leaves
// that alone where the code is ready for a rejection, and refuses it elsewhere.
func (i *imports) resolveAbsent(args api.OnResolveArgs) (api.OnResolveResult, error) {
	if args.Kind != api.ResolveJSDynamicImport {
		return api.OnResolveResult{}, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	c := called{args.Importer, args.Path}
	i.asked[c] = true
	return api.OnResolveResult{External: i.granted[c]}, nil
}

// late are the imports that were refused and that only code which is reached
// asks for.
func (i *imports) late(dir string, errors []api.Message) map[called]bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	found := map[called]bool{}
	for _, m := range errors {
		if c, ok := refused(dir, m); ok && i.asked[c] {
			found[c] = true
		}
	}
	return found
}

// refused is the import that an error of esbuild is about.
func refused(dir string, m api.Message) (called, bool) {
	hit := unresolved.FindStringSubmatch(m.Text)
	if hit == nil || m.Location == nil {
		return called{}, false
	}
	return called{filepath.Join(dir, m.Location.File), hit[1]}, true
}

// loadRequired makes the default export of a provided module what require
// returns. Modules without one, as the platform's own, are returned whole.
func loadRequired(args api.OnLoadArgs) (api.OnLoadResult, error) {
	js := fmt.Sprintf("import * as all from %q; module.exports = \"default\" in all ? all.default : all;", args.Path)
	return api.OnLoadResult{Contents: &js, Loader: api.LoaderJS}, nil
}

// refusal is what a message of the plugin's own says beside its text. It is the
// message's Detail.
type refusal struct{ code, fix string }

func refuse(code, fix, text string) (api.OnResolveResult, error) {
	return api.OnResolveResult{Errors: []api.Message{{Text: text, Detail: refusal{code, fix}}}}, nil
}

// refuseURL keeps esbuild from leaving URLs to a runtime that loads nothing.
func refuseURL(args api.OnResolveArgs) (api.OnResolveResult, error) {
	return refuse("import-url", "install the package with npm and import it by name",
		fmt.Sprintf("%q cannot be imported: a Worker loads no code from the network", args.Path))
}

// loadText records the file, and leaves the loading to esbuild when its bytes are UTF-8: esbuild (0.28) never ends on a
// text whose last character is cut short, as the é of Latin-1 is, when it quotes the text for the source map.
func (i *imports) loadText(args api.OnLoadArgs) (api.OnLoadResult, error) {
	loader, isText := textLoaders[args.With["type"]]
	data, refused, err := i.read(args.Path, loader == api.LoaderDefault && script(args.Path))
	if len(refused) > 0 {
		return api.OnLoadResult{Errors: refused}, nil
	}
	if err != nil || !isText || utf8.Valid(data) {
		return api.OnLoadResult{}, nil //nolint:nilerr // esbuild says what is wrong with the file
	}
	text := string([]rune(string(data))) // U+FFFD for each byte that is none
	result := api.OnLoadResult{Contents: &text, Loader: loader}
	if !ofPackage(args.Path) {
		result.Warnings = []api.Message{notUTF8(i.reads.relative(args.Path), text, invalid(data))}
	}
	return result, nil
}

// textLoaders are for the import attribute "type"; for "bytes" and what nobody knows there is none.
var textLoaders = map[string]api.Loader{"": api.LoaderDefault, "text": api.LoaderText, "json": api.LoaderJSON}

// invalid is the offset of the first byte that is not UTF-8.
func invalid(data []byte) (at int) {
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// notUTF8 is the warning of the first replaced byte of a text, at an offset.
func notUTF8(path, text string, at int) api.Message {
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

// read is every import's way to a file. It notes the file, and reads it unless it may not be imported: refused are the
// messages that say so. code is whether it is taken in as a script.
func (i *imports) read(path string, code bool) (data []byte, refused []api.Message, err error) {
	i.note(path)
	if !i.checkout.Holds(path) {
		return nil, i.outside(path), nil
	}
	data, err = readRegular(path)
	switch {
	case errors.Is(err, errNotRegular):
		return nil, i.irregular(path), nil
	case err == nil && !code && i.checkout.Credentials(path, data):
		return nil, i.credentials(path), nil
	}
	return data, nil, err
}

func (i *imports) note(path string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.loaded = append(i.loaded, path)
	i.reads.add(path)
}

// loadBinary makes the file an ArrayBuffer, as wrangler does.
func (i *imports) loadBinary(args api.OnLoadArgs) (api.OnLoadResult, error) {
	if len(args.With) > 0 { // the importer chose the type
		return api.OnLoadResult{}, nil
	}
	data, refused, err := i.read(args.Path, false)
	if err != nil || len(refused) > 0 {
		return api.OnLoadResult{Errors: refused}, err
	}
	js := `export default Uint8Array.fromBase64("` + base64.StdEncoding.EncodeToString(data) + `").buffer`
	return api.OnLoadResult{Contents: &js, Loader: api.LoaderJS}, nil
}

// resolving marks the question that resolveWasm asks esbuild itself.
type resolving struct{}

// resolveWasm leaves the import to the runtime, under a name made of the bytes.
func (i *imports) resolveWasm(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	if _, own := args.PluginData.(resolving); own || len(args.With) > 0 {
		return api.OnResolveResult{}, nil
	}
	found := build.Resolve(strings.TrimSuffix(args.Path, "?module"), api.ResolveOptions{
		Importer: args.Importer, Namespace: args.Namespace, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: resolving{},
	})
	if len(found.Errors) > 0 || found.Namespace != "file" {
		return api.OnResolveResult{Errors: unplaced(found.Errors)}, nil
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
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wasm[m.Specifier] = m
	return api.OnResolveResult{Path: m.Specifier, External: true}, nil
}

// unplaced drops the plugin's own place from messages, so that esbuild puts the
// import statement's there.
func unplaced(messages []api.Message) []api.Message {
	for n := range messages {
		messages[n].Location = nil
	}
	return messages
}
