//go:build !race

package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestJSONIsShort: plain data costs a fraction of QuickJS's time to get each property. A comparison under the race detector has no meaning,
// since it slows down Go and not QuickJS. TestJSON of runtime/web compares the text with QuickJS's own.
func TestJSONIsShort(t *testing.T) {
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{"json": func(c *engine.Call) (any, error) {
		text, ok, err := c.JSON(0, "")
		if !ok || err != nil {
			return engine.Undefined, err
		}
		return text, nil
	}}})
	cost := func(text string) time.Duration {
		return cheapest(t, i, `(() => {
			globalThis.rows ??= Array.from({ length: 1000 }, (_, id) => ({
			id, name: "Name " + id, email: "user" + id + "@example.com", active: true, tags: ["a", "b"], note: null }));
			globalThis.size ??= JSON.stringify(rows).length;
			let n = 0;
			for (let k = 0; k < 4; k++) n += `+text+`.length;
			return n === 4 * size;
		})()`, "true")
	}
	ours, asked := cost(`host.json(rows)`), cost(`JSON.stringify(rows)`)
	if ours*10 > asked {
		t.Errorf("the host takes %v, and not a tenth of the %v that the engine takes", ours, asked)
	}
}
