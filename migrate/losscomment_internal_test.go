package migrate

import (
	"slices"
	"testing"
)

// TestLossComment: a comment round-trips through its parser.
func TestLossComment(t *testing.T) {
	for _, name := range []string{"people", "order items", `a"b`, "a,b", "select", "é", "2024", "-- x", "[x]"} {
		t.Run(name, func(t *testing.T) {
			comment := LossComment(name)
			if got := losesComment(comment); !slices.Equal(got, []string{name}) {
				t.Errorf("%s allows %q, want %q", comment, got, name)
			}
		})
	}
}
