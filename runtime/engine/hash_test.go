package engine_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestKeysSpread: keys of all kinds find their bucket of a Map at about the same
// cost. Those of a kind that shares a bucket cost many times as much. Other work
// of the machine may hit any one measurement, so the best of several counts.
func TestKeysSpread(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const most = 4 // times as long as text
	cost := func(key string) time.Duration {
		best := time.Duration(1<<63 - 1)
		for range 5 {
			began := time.Now()
			code := `(() => { const keys = Array.from({ length: 4096 }, (_, i) => ` + key +
				`), m = new Map(); for (const key of keys) m.set(key, 1); let n = 0;
					for (let k = 0; k < 4; k++) for (const key of keys) n += m.get(key); return [n, m.size, m.has({})] })()`
			got, err := run(i, scope(t, time.Minute), code)
			if want := `[` + strconv.Itoa(4*4096) + `,4096,false]`; err != nil || got != want {
				t.Fatalf("keys %s: %s, error %v; want %s", key, got, err, want)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	text := cost("`k${i}`")
	for _, key := range []string{"i", "i + 4096", "-i - 1", "i * 1024", "i / 4", "i + 0.1", "({ i })", "BigInt(i)", "Symbol()"} {
		t.Run(key, func(t *testing.T) {
			if got := cost(key); got > most*text {
				t.Errorf("a Map with the keys %s takes %v, one with text %v", key, got, text)
			}
		})
	}
}
