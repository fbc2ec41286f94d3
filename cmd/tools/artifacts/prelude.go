package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/bundler/names"
	"github.com/pages-toolchain/pages/runtime/web/streams"
)

// preludeEntry exports, as its default export, the object of entry points that the engine calls by name. takeEntryPoints
// passes it to the script around the bundle as the completion value.
const (
	preludeEntry    = "runtime/prelude.js"
	takeEntryPoints = `import { default as exported } from "./` + preludeEntry + `"; entryPoints = exported`
	before          = "(()=>{let entryPoints;"
	after           = "return entryPoints})()"
)

// buildPrelude bundles the prelude into one classic script whose completion value is that object. It removes white space, but
// keeps identifiers, which stack traces show, and the names of functions and classes, which programs can read.
func buildPrelude(_ context.Context, root string) ([]byte, []string, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	code, inputs, err := bundle(api.BuildOptions{
		AbsWorkingDir: dir,
		Stdin:         &api.StdinOptions{Contents: takeEntryPoints, ResolveDir: dir},
		Format:        api.FormatIIFE,
		Target:        api.ES2023,
		MainFields:    []string{"module", "main"},
		Conditions:    []string{"workerd", "worker"},
		LegalComments: api.LegalCommentsEndOfFile,
		Banner:        map[string]string{"js": before},
		Footer:        map[string]string{"js": after},
		Plugins:       []api.Plugin{streams.Polyfill()},
	})
	return code, append(inputs, "runtime/web/package-lock.json"), err
}

// bundle makes one script of an entry point, and returns it with its source files. The caller gives entry point, format, target and
// plugins.
func bundle(o api.BuildOptions) ([]byte, []string, error) {
	o.Bundle, o.Platform, o.KeepNames, o.Charset = true, api.PlatformNeutral, true, api.CharsetUTF8
	o.Metafile, o.LogLevel = true, api.LogLevelSilent
	result := api.Build(o)
	if err := buildErrors(result.Errors); err != nil {
		return nil, nil, err
	}
	inputs, err := bundleInputs(result.Metafile)
	if err != nil {
		return nil, nil, err
	}
	code, err := minify(result.OutputFiles[0].Contents, o.Target)
	return code, inputs, err
}

// minify removes white space from esbuild's output, and redundant calls that set names. It does not minify syntax: esbuild
// would drop names of function expressions that only a property name shows.
func minify(code []byte, target api.Target) ([]byte, error) {
	result := api.Transform(string(names.WithoutCalls(code)), api.TransformOptions{
		MinifyWhitespace: true, Target: target, LegalComments: api.LegalCommentsEndOfFile, Charset: api.CharsetUTF8,
		LogLevel: api.LogLevelSilent,
	})
	return result.Code, buildErrors(result.Errors)
}

func buildErrors(messages []api.Message) error {
	var errs []error
	for _, m := range messages {
		where := ""
		if l := m.Location; l != nil {
			where = fmt.Sprintf("%s:%d:%d: ", l.File, l.Line, l.Column+1)
		}
		errs = append(errs, errors.New(where+m.Text))
	}
	return errors.Join(errs...)
}

// bundleInputs lists the files of a metafile.
func bundleInputs(metafile string) ([]string, error) {
	var meta struct{ Inputs map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("the bundler's list of files: %w", err)
	}
	delete(meta.Inputs, "<stdin>")
	return slices.Collect(maps.Keys(meta.Inputs)), nil
}
