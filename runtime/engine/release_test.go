package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestValuesAreReleased overwrites values of each kind, to which none, one or several
// others hold a reference: none is kept, which would take more than the memory there is,
// and none is let go of while somebody holds it.
func TestValuesAreReleased(t *testing.T) {
	testmachine.Long(t)
	for name, c := range map[string]struct{ value, want string }{
		"numbers":   {`i`, `[19999,19999,0]`},
		"fractions": {`i + 0.5`, `[19999.5,19999.5,0.5]`},
		"texts":     {`"x".repeat(10000) + i`, `["x19999","x19999","x0"]`},
		"objects":   {`({ i, room: new Array(1000).fill(i) })`, `[19999,19999,0]`},
		"arrays":    {`[i, ...new Array(1000).fill(i)]`, `[19999,19999,0]`},
		"functions": {`((room) => () => room[0])(new Array(1000).fill(i))`, `[19999,19999,0]`},
		"symbols":   {`Symbol("x".repeat(10000) + i)`, `["x19999","x19999","x0"]`},
		"BigInts":   {`(BigInt(i) << 80000n) + BigInt(i)`, `["19999","19999","0"]`},
		"in cycles": {`((o) => { o.self = o; return o })({ i, room: new Array(1000).fill(i) })`, `[19999,19999,0]`},
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t, engine.IsolateOptions{})
			got, err := run(i, scope(t, time.Minute), `(() => {
				let first, held, again, o = {}, a = [0];
				for (let i = 0; i < 20000; i++) {
					held = `+c.value+`; again = held; o.p = held; a[0] = o.p; if (i === 0) first = held;
				}
				const shown = (v) => typeof v === "function" ? v() : typeof v === "symbol" ? shown(v.description)
					: typeof v === "bigint" ? String(v & 0xffffffn)
					: typeof v === "string" ? v.replace(/^x+/, "x") : Array.isArray(v) ? v[0] : typeof v === "object" ? v.i : v;
				return [again, a[0], first].map(shown);
			})()`)
			if err != nil || got != c.want {
				t.Errorf("%s, error %v; want %s", got, err, c.want)
			}
		})
	}
}
