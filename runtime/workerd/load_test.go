package workerd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestLoad: the error of a module that cannot be evaluated names the author's files.
func TestLoad(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{
			"thrown at the top level",
			"function foo() { throw new Error('at top', { cause: new TypeError('why') }) }\nfoo();\nexport default {}",
			"load Error: at top [at foo (src/worker.js:1:24) at src/worker.js:2:1] caused by TypeError: why (foo (src/worker.js:1:53))",
		},
		{"syntax", "export default {\n  fetch() { let x = ; }\n}", "load SyntaxError: Unexpected token ';' [at src/worker.js:2:21]"},
		{"a module that is not there", `import x from "nope"; export default {}`, `load Error: No such module "nope". []`},
		{
			"a name that is not exported", `import { zz } from "node:path"; export default {}`,
			"load SyntaxError: The requested module 'node:path' does not provide an export named 'zz' [at src/worker.js:1:10]",
		},
		{"no default export", "export const f = () => {}", "load TypeError: the entry module has no default export; write: " +
			"export default { fetch(request, env, ctx) { … } } []"},
		{
			"no handler", "export default { scheduled() {} }",
			"load TypeError: the default export has no fetch handler, only scheduled: the platform has no triggers []",
		},
		{
			"a value among the exports", "export const five = 5; export default { fetch() {} }",
			"load TypeError: Incorrect type for map entry 'five': the provided value is not of type 'function or ExportedHandler'. []",
		},
		{
			"an await without end", "await new Promise(() => {}); export default { fetch() {} }",
			"load Error: Top-level await in module is unsettled. []",
		},
		{
			"a request", `await fetch("http://example.com/"); export default { fetch() {} }`,
			"load Error: Disallowed operation called within global scope.",
		},
		{
			"no end", "for (;;); export default { fetch() {} }",
			"load the Worker did not finish loading: its top level used more than 1s of CPU time []",
		},
		{
			"all memory", "const a = []; for (;;) a.push(new Array(1e5).fill(Math.random())); export default { fetch() {} }",
			"memory the Worker used more than 128 MB of memory while it was loaded",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := loadCPU
			if c.name == "all memory" { // a machine with slow memory needs a second to fill it
				limit = 10 * time.Second
			}
			_, err := startOf(t, pagesruntime.WorkerOptions{Code: []byte(c.code), LoadCPU: limit})
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok {
				t.Fatalf("no error of the runtime: %v", err)
			}
			if got := told(f); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// told writes an error in one line.
func told(f *pagesruntime.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v", f.Kind, f.Headline(), f.Frames)
	for _, c := range f.Causes {
		b.WriteString(" " + c.String())
	}
	return b.String()
}
