package manifest

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
)

// TestUnexplained: a schema rule without a message of its own still gets a message and a fix.
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
