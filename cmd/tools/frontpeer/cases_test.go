package main

import (
	"os"
	"strings"
	"testing"
)

// TestListed: each known difference has its row in the document for users.
func TestListed(t *testing.T) {
	text, err := os.ReadFile("../../../runtime/DIFFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		if !strings.Contains(string(text), "| "+l.row) {
			t.Errorf("no row of DIFFERENCES.md begins with %q", l.row)
		}
	}
	if len(paths()) < 200 || len(rules) < 60 {
		t.Errorf("%d paths and %d rules", len(paths()), len(rules))
	}
}
