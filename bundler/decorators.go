package bundler

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// This file warns of decorators that are to be given types: esbuild knows no types,
// and passes over "emitDecoratorMetadata" of a tsconfig.json without a word.

// decorator is one, after what is none: comments and texts.
var decorator = regexp.MustCompile("(?s)//[^\n]*|/\\*.*?\\*/|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|`(?:\\\\.|[^`\\\\])*`|(@[A-Za-z_$][\\w$.]*)") //nolint:gochecknoglobals // a constant

// firstDecorator is where the first one of a source begins and ends.
func firstDecorator(text string) (start, end int, ok bool) {
	for _, at := range decorator.FindAllStringSubmatchIndex(text, -1) {
		if at[2] >= 0 {
			return at[2], at[3], true
		}
	}
	return 0, 0, false
}

// decorated is what esbuild lowers decorators of TypeScript to, where names are kept.
var decorated = []byte("__decorateClass(") //nolint:gochecknoglobals // a constant

// decorators warns once, at the first decorator, when a tsconfig.json asks for what they
// are not given.
func (c *compiler) decorators(explain explainer, code []byte) diagnostic.List {
	if !c.minified && !bytes.Contains(code, decorated) {
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
		start, end, ok := firstDecorator(text)
		if !ok {
			continue
		}
		slash := filepath.ToSlash
		d := warning("worker-decorator-metadata", slash(explain.reads.relative(source)),
			`name the types in the decorators, such as @Type(() => Date), @Column("text") or @Inject(Service); or have tsc compile the Worker, and make its output the entry`,
			`"emitDecoratorMetadata" in %s has no effect: decorators are told no types, and libraries that look for them fail`, slash(explain.reads.relative(asking)))
		line := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
		d.Line, d.Column = strings.Count(text[:start], "\n")+1, utf8.RuneCountInString(line)+1
		d.EndLine, d.EndColumn = d.Line, d.Column+utf8.RuneCountInString(text[start:end])
		return diagnostic.List{d}
	}
	return nil
}

// asksForMetadata reports whether a tsconfig.json, or one of the files that it extends,
// sets emitDecoratorMetadata. Files of packages are not looked for.
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
		return false // esbuild tells of it
	}
	if set := config.CompilerOptions.EmitDecoratorMetadata; set != nil {
		return *set
	}
	bases, many := config.Extends.([]any)
	if !many {
		bases = []any{config.Extends}
	}
	for _, base := range slices.Backward(bases) { // the last one counts
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
