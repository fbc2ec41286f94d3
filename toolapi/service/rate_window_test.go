package service

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestLimiterModel: the ring admits what a plain list of times admits, also when the cap
// of a key changes.
func TestLimiterModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var now time.Duration
		var times []time.Duration // admitted
		l := newLimiter(func() time.Duration { return now })
		limit := 1 + random.IntN(40)
		for range 300 {
			now += time.Duration(random.Int64N(int64(6 * time.Second)))
			if random.IntN(20) == 0 {
				limit = 1 + random.IntN(40)
			}
			calls := 1 + random.IntN(5)
			times = slices.DeleteFunc(times, func(at time.Duration) bool { return now-at >= rateWindow })
			times = times[max(0, len(times)-limit):]
			admitted := len(times)+calls <= limit
			if admitted {
				times = append(times, slices.Repeat([]time.Duration{now}, calls)...)
			}
			reset := int64(60)
			if len(times) > 0 {
				reset = max(1, int64((times[0]+rateWindow-now+time.Second-1)/time.Second))
			}
			want := quota{limit: limit, remaining: limit - len(times), reset: reset}
			if got, ok := l.admit(7, limit, calls); ok != admitted || got != want {
				t.Fatalf("%d calls at %v: %+v %v, want %+v %v", calls, now, got, ok, want, admitted)
			}
		}
		now += rateWindow
		if l.clean(); len(l.keys) != 0 {
			t.Fatal("a window without calls is kept")
		}
	}
}
