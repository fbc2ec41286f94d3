package node_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/node"
)

// callsWorker answers with the outcome of a call of each function that a module exports, with two texts and a function, by
// "module.name": "absent" where its error says so, "refuses" for any other error, otherwise the type of its value.
func callsWorker() string {
	var code strings.Builder
	code.WriteString("const modules = {\n")
	for _, specifier := range node.Specifiers() {
		if name, ok := strings.CutPrefix(specifier, "node:"); ok {
			code.WriteString(quote(name) + ": () => import(" + quote(specifier) + "),\n")
		}
	}
	code.WriteString(`};
const left = /^process\.(abort|exit|kill|reallyExit|dlopen|emitWarning|_kill|_rawDebug)$|^test/;
const isAbsent = (e) => /not[ _](implemented|available)/i.test(e?.code + " " + e?.message);
const call = (f) => {
  let value;
  try { value = f("a", "b", () => {}); } catch (e) {
    if (!/new|constructor/i.test(e.message)) throw e;
    value = new f("a", "b", () => {});
  }
  value?.catch?.(() => {});
  try { value?.on?.("error", () => {}); } catch {}
  return typeof value;
};
export default { async fetch() {
  const all = {};
  for (const module in modules) {
    const exported = await modules[module]();
    for (const name of Object.keys(exported)) {
      const f = exported[name];
      if (typeof f !== "function" || left.test(module + "." + name)) continue;
      try { all[module + "." + name] = call(f); } catch (e) { all[module + "." + name] = isAbsent(e) ? "absent" : "refuses"; }
    }
  }
  return Response.json(all);
} };`)
	return code.String()
}

// worksHere are functions that work here as in Node.js, and are absent on the platform.
var worksHere = []string{
	"console.context", "module.Module", "module.default", "module.wrap", "process.hasUncaughtExceptionCaptureCallback",
	"v8.isStringOneByteRepresentation",
}

// TestCalls: a function that is absent on the platform throws here, too. testdata/calls.list has the platform's outcomes, for a
// Worker with the flag nodejs_compat at the date of the assumptions.
func TestCalls(t *testing.T) {
	if name := os.Getenv("PAGES_TEST_CALLS_WORKER"); name != "" { // to test the platform again
		if err := os.WriteFile(name, []byte(callsWorker()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := start(t, callsWorker(), pagesruntime.WorkerOptions{})
	var here map[string]string
	if text := get(t, w, "/"); json.Unmarshal([]byte(text), &here) != nil {
		t.Fatal(text)
	}
	there := platform(t, "calls.list")
	for _, name := range slices.Sorted(maps.Keys(here)) {
		if there[name] == "absent" && here[name] != "absent" && here[name] != "refuses" && !slices.Contains(worksHere, name) {
			t.Errorf("%s gives %s, and is absent on the platform", name, here[name])
		}
	}
	for _, name := range worksHere {
		if there[name] != "absent" || here[name] == "absent" {
			t.Errorf("%s is %s on the platform and %s here", name, there[name], here[name])
		}
	}
	if len(there) < 500 {
		t.Errorf("the list has %d functions", len(there))
	}
}
