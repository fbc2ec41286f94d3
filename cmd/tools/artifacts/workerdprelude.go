package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const workerdScripts = "runtime/workerd/js/"

// standIns are files of the built-in engine's JavaScript with a replacement for workerd.
var standIns = map[string]string{
	"runtime/web/webidl/js/host.js":    workerdScripts + "host.js",
	"runtime/web/language/js/trace.js": workerdScripts + "trace.js",
}

// buildWorkerdPrelude bundles the script around a Worker in workerd into one module.
func buildWorkerdPrelude(_ context.Context, root string) ([]byte, []string, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	return bundle(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   []string{workerdScripts + "prelude.js"},
		Format:        api.FormatESModule,
		Target:        api.ES2024,
		External:      []string{"node:*", "cloudflare:*"},
		Plugins:       []api.Plugin{replacing(dir, standIns)},
	})
}

// replacing substitutes stand-ins for files.
func replacing(dir string, standIns map[string]string) api.Plugin {
	return api.Plugin{Name: "stand-ins", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `\.js$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			file, err := filepath.Rel(dir, filepath.Join(a.ResolveDir, filepath.FromSlash(a.Path)))
			if err != nil || !strings.HasPrefix(a.Path, ".") {
				return api.OnResolveResult{}, err
			}
			if other, ok := standIns[filepath.ToSlash(file)]; ok {
				return api.OnResolveResult{Path: filepath.Join(dir, filepath.FromSlash(other))}, nil
			}
			return api.OnResolveResult{}, nil
		})
	}}
}
