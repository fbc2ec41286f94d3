package migrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowset compares the set with a map, in random orders and at the ends of the numbers.
func TestRowset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s, other rowset
		want := map[int64]bool{}
		for range r.IntN(60) {
			id := r.Int64N(40) - 20
			switch r.IntN(20) {
			case 0:
				id = math.MaxInt64 - r.Int64N(2)
			case 1:
				id = math.MinInt64 + r.Int64N(2)
			}
			want[id] = true
			if r.IntN(3) == 0 {
				other.add(id)
				continue
			}
			s.add(id)
		}
		s.addAll(&other)
		got := s.list()
		slices.Sort(got)
		if len(got) != len(want) || s.members != int64(len(want)) || len(slices.Compact(got)) != len(want) {
			t.Fatalf("%v (%d) of %v", got, s.members, want)
		}
		for id := int64(-21); id < 21; id++ {
			if s.has(id) != want[id] {
				t.Fatalf("%d: %v of %v", id, s.has(id), want)
			}
		}
		if s.has(math.MaxInt64) != want[math.MaxInt64] || s.has(math.MinInt64) != want[math.MinInt64] {
			t.Fatalf("the ends of %v", want)
		}
	}
}
