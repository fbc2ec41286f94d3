package migrate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDeletedRows compares the answers with a look at each deletion, for deletions that overlap too.
func TestDeletedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	o := &object{shape: &tableShape{columns: []shapeColumn{{rowid: true}}}}
	for round := range 200 {
		var deletions []deletion
		for range r.IntN(12) {
			d := deletion{ids: &rowset{}, again: &rowset{}}
			for range r.IntN(20) {
				d.ids.add(r.Int64N(60))
				d.again.add(r.Int64N(60))
			}
			deletions = append(deletions, d)
		}
		rows := newDeletedRows(o, deletions)
		for id := range int64(60) {
			want := slices.IndexFunc(deletions, func(d deletion) bool { return d.ids.has(id) })
			for i, d := range deletions {
				if want >= 0 && i > want && d.again.has(id) {
					want = i
				}
			}
			got := rows.last(id)
			if rows.has(id) != (want >= 0) || (got == nil) != (want < 0) || got != nil && got != &deletions[want] {
				t.Fatalf("round %d: row %d: %v, want deletion %d", round, id, got, want)
			}
		}
	}
}
