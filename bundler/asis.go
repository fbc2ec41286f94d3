package bundler

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// This file keeps a Worker from another bundler byte for byte, if its wrangler configuration sets no_bundle. Such a Worker may
// send the text of its functions to a page whose Content-Security-Policy names the hash of that text. The entry and the
// modules that it imports keep their names, relative to the entry's folder. esbuild still compiles the Worker, for its
// diagnostics; if the Worker needs a bundle to work, it is bundled, with a warning.

// asIs replaces the Worker of out with the original modules.
func (c *compiler) asIs(explain explainer, meta metafile, out *compiled) {
	reason := c.imports.notAsIs()
	folder := path.Dir(c.target.entry)
	worker := &Worker{Name: path.Base(c.target.entry), Folder: folder, Modules: c.imports.modules()}
	for _, name := range slices.Sorted(keysOf(meta)) {
		if reason == "" {
			reason = notAsIs(folder, name, meta)
		}
		if reason != "" {
			break
		}
		text, refused, err := c.imports.read(filepath.Join(explain.dir, filepath.FromSlash(name)), true)
		if err != nil || len(refused) > 0 {
			reason = fmt.Sprintf("%q cannot be read", name)
			break
		}
		if name == c.target.entry {
			worker.Code, worker.Map = text, c.ownMap(explain, name, text)
			continue
		}
		worker.Modules = append(worker.Modules, Module{
			Specifier: specifierIn(folder, name), Kind: KindScript, Bytes: text, Map: c.ownMap(explain, name, text), file: name,
		})
	}
	if reason != "" {
		out.diagnostics = append(out.diagnostics, warning("worker-bundled", c.target.entry,
			"set the tool that built it to write one file, or modules that import each other by path",
			"the Worker is bundled, although its wrangler configuration sets no_bundle: %s", reason))
		return
	}
	slices.SortFunc(worker.Modules, func(a, b Module) int { return cmp.Compare(a.Specifier, b.Specifier) })
	out.worker = worker
}

func keysOf(meta metafile) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range meta.Inputs {
			if !yield(name) {
				return
			}
		}
	}
}

// specifierIn is the specifier of a file for modules of a folder: "./assets/page.js".
func specifierIn(folder, file string) string {
	name, err := filepath.Rel(filepath.FromSlash(folder), filepath.FromSlash(file))
	if err != nil {
		return file
	}
	return "./" + filepath.ToSlash(name)
}

// notAsIs returns the reason why a file cannot be a module unchanged; "" if it can.
func notAsIs(folder, name string, meta metafile) string {
	in := meta.Inputs[name]
	if ext := path.Ext(name); ext != ".js" && ext != ".mjs" {
		return fmt.Sprintf("it imports %q, which is not JavaScript", name)
	}
	if in.Format == "cjs" {
		return fmt.Sprintf("%q is CommonJS", name)
	}
	if strings.HasPrefix(specifierIn(folder, name), "./../") {
		return fmt.Sprintf("%q is outside the entry's folder", name)
	}
	for _, to := range in.Imports {
		relative := strings.HasPrefix(to.Original, "./") || strings.HasPrefix(to.Original, "../")
		switch {
		case to.Kind == "require-call" || to.Kind == "require-resolve":
			return fmt.Sprintf("%q calls require", name)
		case to.External:
		case !relative || path.Join(path.Dir(name), to.Original) != to.Path:
			return fmt.Sprintf("%q imports %q by a name other than its path", name, cmp.Or(to.Original, to.Path))
		case len(to.With) > 0:
			return fmt.Sprintf("%q imports %q as another type", name, to.Original)
		}
	}
	return ""
}

// sourceMapURL matches the comment that names the source map of a script, at its end.
var sourceMapURL = regexp.MustCompile(`(?m)^//[#@] ?sourceMappingURL=(\S+)\s*\z`)

// ownMap returns the source map that the text of a file names, with sources relative to the site's folder; nil
// without one that can be read.
func (c *compiler) ownMap(explain explainer, name string, text []byte) []byte {
	found := sourceMapURL.FindSubmatch(text)
	if found == nil {
		return nil
	}
	var read []byte
	folder := path.Dir(name)
	if data, inline := strings.CutPrefix(string(found[1]), "data:"); inline {
		if _, encoded, ok := strings.Cut(data, ";base64,"); ok {
			read, _ = base64.StdEncoding.DecodeString(encoded)
		}
	} else if at := path.Join(folder, string(found[1])); !strings.Contains(string(found[1]), ":") {
		read, _, _ = c.imports.read(filepath.Join(explain.dir, filepath.FromSlash(at)), false)
		folder = path.Dir(at)
	}
	var m struct {
		Version        int       `json:"version"`
		Sources        []string  `json:"sources"`
		SourcesContent []*string `json:"sourcesContent,omitempty"`
		SourceRoot     string    `json:"sourceRoot,omitempty"`
		Names          []string  `json:"names"`
		Mappings       string    `json:"mappings"`
	}
	if json.Unmarshal(read, &m) != nil || m.Version != 3 || m.Mappings == "" {
		return nil
	}
	m.SourcesContent = m.SourcesContent[:min(len(m.SourcesContent), len(m.Sources))]
	for i, source := range m.Sources {
		if !strings.Contains(source, ":") && !path.IsAbs(source) {
			m.Sources[i] = path.Join(folder, m.SourceRoot, source)
		}
	}
	m.SourceRoot = ""
	for len(m.SourcesContent) < len(m.Sources) {
		m.SourcesContent = append(m.SourcesContent, nil)
	}
	out, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	if out, err = c.imports.sourceMap(out, explain.dir); err != nil {
		return nil
	}
	if _, err := sourcemap.Parse("", out); err != nil {
		return nil // without a map, positions refer to the file itself
	}
	return out
}
