package bundler

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// decorator matches a decorator as its group, or a comment or string, with an empty group.
var decorator = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)//[^\n]*|/\\*.*?\\*/|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|" +
		"`(?:\\\\.|[^`\\\\])*`|(@[A-Za-z_$][\\w$.]*)")
})

// decorators warns once, at the first decorator, when a tsconfig.json sets "emitDecoratorMetadata": esbuild has no types, and
// ignores it silently.
func (c *compiler) decorators(explain explainer, code []byte) diagnostic.List {
	if !c.minified && !bytes.Contains(code, []byte("__decorateClass(")) { // esbuild's helper for TypeScript's decorators
		return nil
	}
	asking := ""
	for _, config := range slices.Sorted(maps.Keys(c.settings)) {
		if asksForMetadata(config, map[string]bool{}) {
			asking = config
			break
		}
	}
	if asking == "" {
		return nil
	}
	for _, source := range slices.Sorted(slices.Values(c.imports.sources())) {
		if ext := filepath.Ext(source); ofPackage(source) || ext != ".ts" && ext != ".tsx" && ext != ".mts" && ext != ".cts" {
			continue
		}
		text := textOf(source)
		matches := decorator().FindAllStringSubmatchIndex(text, -1)
		first := slices.IndexFunc(matches, func(at []int) bool { return at[2] >= 0 })
		if first < 0 {
			continue
		}
		start, end := matches[first][2], matches[first][3]
		d := warning("worker-decorator-metadata", filepath.ToSlash(explain.reads.relative(source)),
			`name the types in the decorators, such as @Type(() => Date), @Column("text") or @Inject(Service); or compile with tsc the `+
				`Worker, and make its output the entry`,
			`"emitDecoratorMetadata" in %s has no effect: decorators get no types, and libraries that read them fail`,
			filepath.ToSlash(explain.reads.relative(asking)))
		line := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
		d.Line, d.Column = strings.Count(text[:start], "\n")+1, utf8.RuneCountInString(line)+1
		d.EndLine, d.EndColumn = d.Line, d.Column+utf8.RuneCountInString(text[start:end])
		return diagnostic.List{d}
	}
	return nil
}

// asksForMetadata reports whether a tsconfig.json, or one of the files that it extends, sets emitDecoratorMetadata. Files of
// packages are ignored.
func asksForMetadata(path string, seen map[string]bool) bool {
	if seen[path] {
		return false
	}
	seen[path] = true
	text, err := readRegular(path)
	if err != nil {
		return false
	}
	var config struct {
		Extends         any
		CompilerOptions struct {
			EmitDecoratorMetadata *bool
		}
	}
	if text, err = hujson.Standardize(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil || json.Unmarshal(text, &config) != nil {
		return false // esbuild reports it
	}
	if set := config.CompilerOptions.EmitDecoratorMetadata; set != nil {
		return *set
	}
	bases, many := config.Extends.([]any)
	if !many {
		bases = []any{config.Extends}
	}
	for _, base := range slices.Backward(bases) { // the last one wins
		name, _ := base.(string)
		if !strings.HasPrefix(name, ".") {
			continue
		}
		file := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		if filepath.Ext(file) != ".json" {
			file += ".json"
		}
		if asksForMetadata(file, seen) {
			return true
		}
	}
	return false
}
