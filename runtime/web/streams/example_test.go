package streams_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/runtime/web/streams"
)

// The plugin refuses a version with internals that it does not know.
func ExamplePolyfill() {
	dir, err := os.MkdirTemp("", "streams")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "web-streams-polyfill", "dist", "ponyfill.mjs")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		fmt.Println(err)
	}
	if err := os.WriteFile(file, []byte(`export class ReadableStream { constructor() { this._state = "readable" } }`), 0o600); err != nil {
		fmt.Println(err)
	}
	result := api.Build(api.BuildOptions{EntryPoints: []string{file}, Plugins: []api.Plugin{streams.Polyfill()}})
	fmt.Println(strings.Replace(result.Errors[0].Text, ": look", ":\nlook", 1))
	// Output:
	// web-streams-polyfill uses internal fields 1 times, has 0 internal operations and 0 checks of its classes, not 839, 6 and 14:
	// look for internals that this does not rename, then change the numbers
}
