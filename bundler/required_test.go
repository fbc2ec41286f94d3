package bundler

import (
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestRequired: CommonJS code gets the same value of a provided module as in Node.js, and the module stays an import.
func TestRequired(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"the default export", `module.exports = require("node:path").join("a", "b")`, `"a/b"`},
		{
			"a function",
			`const E = require("events"); class A extends E {} module.exports = [new A() instanceof E, E.EventEmitter === E]`,
			`[true,true]`,
		},
		{"both ways at once", `import path, { sep } from "path"; export default [path === require("node:path"), sep]`, `[true,"/"]`},
		{
			"at run time",
			`module.exports = (() => { try { return require("util").format("%d", 1) } catch (e) { return e.message } })()`,
			`"1"`,
		},
		{"in a package", `export { default } from "old"`, `"6869"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := site(
				t, "index.js", c.code,
				"node_modules/old/package.json", `{"name": "old", "main": "main.js"}`,
				"node_modules/old/main.js", `var Buffer = require("buffer").Buffer; module.exports = Buffer.from("hi").toString("hex")`,
			)
			o := Options{Provided: []string{"node:path", "node:events", "node:util", "node:buffer"}}
			m := manifest.Manifest{Entry: "index.js", Runtime: manifest.Runtime{CompatibilityFlags: []string{manifest.FlagNodeJS}}}
			b := builder(t, dir, o)
			bundle := build(t, b, m)
			if got := value(t, bundle.Worker); got != c.want {
				t.Errorf("the default export is %s, want %s\n%s", got, c.want, bundle.Worker.Code)
			}
			if strings.Contains(string(bundle.Worker.Code), "Dynamic require") {
				t.Errorf("something is left to a require that no Worker has:\n%s", bundle.Worker.Code)
			}
			if slices.ContainsFunc(b.Inputs(), func(path string) bool { return strings.Contains(path, required+":") }) {
				t.Errorf("a module of the bundler's own is to be watched: %v", b.Inputs())
			}
		})
	}
}
