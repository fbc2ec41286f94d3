package diagnostic_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"hnoo", []string{"hono", "hoist"}, "hono"},
		{"databse", []string{"database", "data"}, "database"},
		{"Site", []string{"site"}, "site"},
		{"compatibility_flags", []string{"compatibilityDate", "compatibilityFlags"}, "compatibilityFlags"},
		{"react", []string{"hono"}, ""},
		{"ab", []string{"cd"}, ""},
		{"", []string{"a"}, ""},
		{"x", nil, ""},
	} {
		t.Run(c.word, func(t *testing.T) {
			if got := diagnostic.Nearest(c.word, c.candidates); got != c.want {
				t.Errorf("%q among %q: %q, want %q", c.word, c.candidates, got, c.want)
			}
		})
	}
}
