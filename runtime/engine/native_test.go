package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestNativeText: the text of a built-in function is V8's.
func TestNativeText(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const code = `[String(Math.max), String(Proxy), String(Object.getOwnPropertyDescriptor(Map.prototype, "size").get),
		String((a) => a + 1), String(class A {})]`
	const want = `["function max() { [native code] }","function Proxy() { [native code] }","function get size() { [native code] }",` +
		`"(a) => a + 1","class A {}"]`
	if got, err := run(i, scope(t, time.Minute), code); err != nil || got != want {
		t.Errorf("%s, error %v", got, err)
	}
}
