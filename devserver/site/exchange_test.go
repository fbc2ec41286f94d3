package site

import (
	"strings"
	"testing"
	"time"
)

// TestRequestIDs: ids of the same time are neighbours, and all are different.
func TestRequestIDs(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	seen, before := map[string]bool{}, ""
	for range 3 {
		for range 1000 {
			id := newRequestID(at)
			if seen[id] || len(id) != 16 || !strings.HasPrefix(id, "req_") || before != "" && id <= before {
				t.Fatalf("%q, seen %v, after %q", id, seen[id], before)
			}
			seen[id] = true
		}
		at = at.Add(time.Minute)
		before = newRequestID(at.Add(-time.Second))
	}
}
