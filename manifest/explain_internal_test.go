package manifest

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
)

// TestUnexplained: a rule of the schema that has no words of its own yet is told all the same, with what to do.
func TestUnexplained(t *testing.T) {
	d := NewDocument(`{"entry":"w.js"}`)
	d.Root, _ = jsontree.Parse(d.lines.Src)
	d.explain(violation{at: "/entry", kind: "pattern"})
	if len(d.Diagnostics) != 1 {
		t.Fatalf("got %+v", d.Diagnostics)
	}
	got := d.Diagnostics[0]
	if got.Code != diagnostic.CodeInvalid || got.Column != 10 || got.Message != `entry breaks the schema's rule "pattern"` ||
		got.Fix == "" {
		t.Errorf("got %+v", got)
	}
}
