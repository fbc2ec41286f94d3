package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// spinning are scripts whose kill must name a line: code without a call, native code, and code in a job. QuickJS knows the lines of
// calls, of reads of properties and the like; for a loop without any it knows the line before it.
var spinning = map[string]struct{ code, want string }{
	"empty for":        {"const n = 1;\nfunction spin() {\n  for(;;){}\n}\nspin()", "at spin (%:2:"},
	"while at the top": {"let n = 0;\nfunction spin() {\n  while (true)\n    Math.abs(n);\n}\nspin()", "at spin (%:4:"},
	"nested": {
		"const outer = () => {\n  inner();\n};\nfunction inner() {\n  let n = 0;\n  while (true)\n    n += 1;\n}\nouter()",
		"at inner (%:4:",
	},
	"its caller": {"const outer = () => {\n  inner();\n};\nfunction inner() {\n  for (;;);\n}\nouter()", "at outer (%:2"},
	"finally":    {"function spin() {\n  try { for (;;) {} }\n  finally { for (;;) {} }\n}\nspin()", "at spin (%:1:"},
	"regex": {
		"function match() {\n  const s = 'a'.repeat(40) + 'b';\n  return /^(a+)+$/.test(s);\n}\nmatch()",
		"at match (%:3",
	},
	"comparator": {"function order() {\n  [2, 1].sort(\n    function compare() { for(;;){} });\n}\norder()", "at compare (%:3:"},
	"sort":       {"function order() {\n  for (;;) {\n    new Float64Array(3e6).sort();\n  }\n}\norder()", "at order (%:3"},
	"stringify": {
		"const all = new Array(2e4).fill({ a: [1, 'two'] });\nfunction write() {\n  for (;;)\n    JSON.stringify(all);\n}\nwrite()",
		"at write (%:4",
	},
	"join":             {"function write() {\n  return new Array(5e7).join('');\n}\nwrite()", "at write (%:2"},
	"async function":   {"0;\n(async function spin() { for(;;){}\n})(); 0", "at spin (%:2:"},
	"after an await":   {"(async function spin() {\n  await Math.abs(1);\n  for(;;){}\n})(); 0", "at spin (%:2:"},
	"a call in a loop": {"(function spin() {\n  Math.sin(1);\n  for (;;)\n    Math.abs(1);\n})(); 0", "at spin (%:4:"},
	"awaited, a call":  {"(async function spin() {\n  await Math.sin(1);\n  for (;;)\n    Math.abs(1);\n})(); 0", "at spin (%:4:"},
	"then":             {"0;\nPromise.resolve().then(function spin() {\n  for(;;){}\n}); 0", "at spin (%:2:"},
	"generator":        {"function* spin() {\n  yield 1;\n  for(;;){}\n}\n[...spin()]", "at spin (%:2:"},
	"async generator": {
		"(async () => {\n  for await (const x of (async function* spin() {\n    yield 1;\n    for(;;){}\n  })()) {}\n})(); 0",
		"at spin (%:3:",
	},
	"getter":             {"const o = {\n  get spin() { for(;;){} } };\nString(o.spin)", "%:2"},
	"toString of a host": {"host.echo({\n toString() { for(;;){} } })", "at toString (%:2:"},
	"hostile trace":      {"Error.prepareStackTrace = () => { for(;;){} };\nfunction spin() {\n  for(;;){}\n}\nspin()", "at spin (%:2:"},
	"no trace":           {"Error.stackTraceLimit = 0;\nfunction spin() {\n  for(;;){}\n}\nspin()", "at spin (%:2:"},
}

// TestKillNamesTheLine: a kill names the running line.
func TestKillNamesTheLine(t *testing.T) {
	funcs := map[string]engine.Func{"echo": func(c *engine.Call) (any, error) { return c.String(0), nil }}
	e, err := bombEngine()
	if err != nil {
		t.Fatal(err)
	}
	image, err := e.Boot(t.Context(), prelude, []string{"echo"})
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{Funcs: funcs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	for name, c := range spinning {
		t.Run(name, func(t *testing.T) {
			_, err := run(i, scope(t, 30*time.Millisecond), c.code)
			killed, ok := errors.AsType[*engine.KilledError](err)
			if !ok {
				t.Fatal(err)
			}
			if !strings.Contains(killed.Stack, strings.ReplaceAll(c.want, "%", "<input>")) &&
				!strings.Contains(killed.Stack, strings.ReplaceAll(c.want, "%", "<evalScript>")) {
				t.Errorf("want %q in\n%s", c.want, killed.Stack)
			}
		})
	}
}

// TestPatternNamesTheLine: the error names the line of a pattern that destructures undefined, and not the one compiled before it.
func TestPatternNamesTheLine(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, c := range []struct{ name, code, want string }{
		{"braces", "function f(o) {\n  const x = Math.abs(1);\n  const { a } = o.b;\n}\nf({})", "3:11"},
		{"braces over lines", "function f(o) {\n  let {\n    a,\n    b\n  } = o;\n}\nf()", "3:5"},
		{"parameters", "function f(\n  { a },\n  { b }\n) {}\nf({})", "3:5"},
		{"nested braces", "function f(o) {\n  const { a,\n    b: { c }\n  } = o;\n}\nf({})", "3:10"},
		{"brackets", "function f(o) {\n  Math.abs(1);\n  const [a] = o;\n}\nf({})", "3:10"},
		{"nested brackets", "function f(o) {\n  const [a,\n    [b]] = o;\n}\nf([1])", "3:6"},
		{"for of", "function f(o) {\n  for (const x of o)\n    for (const\n      { a } of x);\n}\nf([[null]])", "4:9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(i, scope(t, time.Minute), c.code)
			failed, ok := errors.AsType[*engine.Error](err)
			if !ok || !strings.Contains(failed.Stack, "f (<input>:"+c.want+")") {
				t.Errorf("%s: %v, want %s", c.code, failed, c.want)
			}
		})
	}
}
