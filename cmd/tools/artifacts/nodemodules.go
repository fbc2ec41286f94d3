package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The modules of Node.js: js/modules/<name>.js is node:<name>, js/internal/<name>.js is node:internal/<name>, and
// js/cloudflare/<name>.js is cloudflare:<name>. Each becomes one ES module that imports the others by these names, so that a Worker
// evaluates only the modules that it uses.
const (
	nodeFolder   = "runtime/node/js"
	nodePublic   = nodeFolder + "/modules"
	nodeInternal = nodeFolder + "/internal"
	nodePlatform = nodeFolder + "/cloudflare"
)

// buildNodeModules bundles every module and returns the archive of all.
func buildNodeModules(_ context.Context, root string) ([]byte, []string, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	entries, err := nodeEntries(dir)
	if err != nil {
		return nil, nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       dir,
		EntryPointsAdvanced: entries,
		Outdir:              filepath.Join(dir, "modules"), // never written
		Bundle:              true,
		Format:              api.FormatESModule,
		Platform:            api.PlatformNeutral,
		Target:              api.ES2024,
		MainFields:          []string{"module", "main"},
		Conditions:          []string{"workerd", "worker"},
		KeepNames:           true,
		LegalComments:       api.LegalCommentsEndOfFile,
		Charset:             api.CharsetUTF8,
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
		Plugins:             []api.Plugin{nodePlugin(dir)},
	})
	if err := buildErrors(result.Errors); err != nil {
		return nil, nil, err
	}
	inputs, err := bundleInputs(result.Metafile)
	if err != nil {
		return nil, nil, err
	}
	inputs = slices.DeleteFunc(inputs, func(name string) bool { return strings.HasPrefix(name, requiredNamespace+":") })
	for i := range result.OutputFiles {
		file := &result.OutputFiles[i]
		file.Contents = namespaces.ReplaceAll(file.Contents, []byte("${1}of Object.keys($2))"))
		if file.Contents, err = minify(file.Contents, api.ES2024); err != nil {
			return nil, nil, err
		}
	}
	packed, err := pack(filepath.Join(dir, "modules"), result.OutputFiles)
	return packed, append(inputs, "runtime/node/package-lock.json"), err
}

// namespaces matches esbuild's code that fills the object of "import * as", which includes names that a library added to
// all objects before the module was evaluated.
var namespaces = regexp.MustCompile(`(var __export = \(target, \w+\) => \{\s*for \(var name )in (\w+)\)`)

// nodeEntries lists the source files and the names they get, in the order in which they are packed.
func nodeEntries(dir string) (entries []api.EntryPoint, err error) {
	for _, from := range []struct{ folder, prefix string }{{nodePublic, ""}, {nodeInternal, "internal/"}, {nodePlatform, "cloudflare/"}} {
		at := filepath.Join(dir, filepath.FromSlash(from.folder))
		err := fs.WalkDir(os.DirFS(at), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && path.Ext(name) == ".js" {
				entries = append(entries, api.EntryPoint{
					InputPath: filepath.Join(at, filepath.FromSlash(name)), OutputPath: from.prefix + strings.TrimSuffix(name, ".js"),
				})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// requiredNamespace is esbuild's name for the modules around a require call.
const requiredNamespace = "node-require"

// nodePlugin keeps imports between the modules, by name. A require call of an npm package gets the default export. Our error
// for a missing feature replaces unenv's.
func nodePlugin(dir string) api.Plugin {
	return api.Plugin{Name: "node", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^node:`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if args.Kind == api.ResolveJSRequireCall {
				return api.OnResolveResult{Path: args.Path, Namespace: requiredNamespace}, nil
			}
			return api.OnResolveResult{Path: args.Path, External: true}, nil
		})
		build.OnResolve(api.OnResolveOptions{Filter: `^(buffer|events|process|string_decoder|abort-controller)/?$`},
			func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				name := strings.TrimSuffix(args.Path, "/")
				if name == "abort-controller" {
					return api.OnResolveResult{Path: filepath.Join(dir, filepath.FromSlash(nodeFolder), "abort-controller.js")}, nil
				}
				return api.OnResolveResult{Path: "node:" + name, Namespace: requiredNamespace}, nil
			})
		build.OnResolve(api.OnResolveOptions{Filter: `/_internal/utils\.mjs$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: "node:internal/absent", External: true}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: requiredNamespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			text := `import all from "` + args.Path + `"; module.exports = all;`
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}
}

// pack makes a reproducible archive.
func pack(base string, files []api.OutputFile) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range files {
		name, err := filepath.Rel(base, file.Path)
		if err != nil {
			return nil, err
		}
		f, err := w.Create(filepath.ToSlash(name))
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(file.Contents); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
