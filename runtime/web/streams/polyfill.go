// Package streams prepares the package web-streams-polyfill for the bundler of the prelude.
//
// In: the package's module, by way of esbuild. Out: the same with its internals under private names
// (quickjspatch.PrivatePrefix), so that no subclass, copy or reflection finds them. A module without these internals is an
// error of the build. The plugin may be used by several builds at once. Nothing here runs in a Worker: the streams themselves
// are JavaScript (js/).
package streams

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// Polyfill is a plugin of esbuild that gives web-streams-polyfill's internals private names.
func Polyfill() api.Plugin {
	return api.Plugin{Name: "streams", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `web-streams-polyfill[/\\]dist[/\\]ponyfill\.mjs$`},
			func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				code, err := os.ReadFile(args.Path)
				if err != nil {
					return api.OnLoadResult{}, err
				}
				contents, err := withPrivateNames(string(code))
				return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}, err
			})
	}}
}

// The package is minified: its own variables have at most three letters, an underscore included. Operations by which its
// parts call each other have symbols for names. The look for an own property is that of the moment when the prelude began,
// as a program may replace Object.prototype.hasOwnProperty.
var (
	field     = regexp.MustCompile(`\b_([a-z]\w{3,})\b`)
	operation = regexp.MustCompile(`Symbol\("\[\[(\w+)\]\]"\)`)
)

const hasOwn = "Object.prototype.hasOwnProperty.call("

// Numbers of uses in version 4.3.0.
const fields, operations, checks = 839, 6, 14

func withPrivateNames(code string) (string, error) {
	f, o, c := len(field.FindAllString(code, -1)), len(operation.FindAllString(code, -1)), strings.Count(code, hasOwn)
	if f != fields || o != operations || c != checks {
		return "", fmt.Errorf("web-streams-polyfill uses internal fields %d times, has %d internal operations and %d checks of its "+
			"classes, not %d, %d and %d: look for internals that this does not rename, then change the numbers",
			f, o, c, fields, operations, checks)
	}
	template := strings.ReplaceAll(quickjspatch.PrivatePrefix, "$", "$$") + "$1"
	code = field.ReplaceAllString(code, template)
	code = operation.ReplaceAllString(code, `"`+template+`"`)
	return "const hasOwn = Object.hasOwn;" + strings.ReplaceAll(code, hasOwn, "hasOwn("), nil
}
