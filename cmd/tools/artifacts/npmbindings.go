package main

import (
	"context"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

const npmParts = "npm/src/parts/"

// nodeStandIns are files of the engine's JavaScript with a replacement for Node.js.
var nodeStandIns = map[string]string{
	"runtime/web/webidl/js/host.js":         npmParts + "host.js",
	"runtime/web/language/js/trace.js":      npmParts + "trace.js",
	"runtime/web/streams/js/streams.js":     npmParts + "streams.js",
	"runtime/web/textcodec/js/encoding.js":  npmParts + "encoding.js",
	"runtime/web/formdata/js/blob.js":       npmParts + "blob.js",
	"runtime/web/fetch/js/response.js":      npmParts + "response.js",
	"runtime/binding/hostcall/js/binary.js": npmParts + "binary.js",
}

// buildNPMBindings bundles the bindings of a process of Node.js into one module: the classes that a Worker has, over the wire.
func buildNPMBindings(_ context.Context, root string) ([]byte, []string, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	return bundle(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   []string{"npm/src/bindings.js"},
		Format:        api.FormatESModule,
		Target:        api.ES2023,
		External:      []string{"node:*"},
		Plugins:       []api.Plugin{replacing(dir, nodeStandIns)},
	})
}
