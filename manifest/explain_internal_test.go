package manifest

import "testing"

// TestUnexplained: a rule of the schema that has no words of its own yet is told all the same, with what to do.
func TestUnexplained(t *testing.T) {
	d := newDocument(`{"entry":"w.js"}`)
	d.root, _ = parseJSON(d.lines.src)
	d.explain(violation{at: "/entry", kind: "pattern"})
	if len(d.diagnostics) != 1 {
		t.Fatalf("got %+v", d.diagnostics)
	}
	got := d.diagnostics[0]
	if got.Code != codeInvalid || got.Column != 10 || got.Message != `entry breaks the schema's rule "pattern"` || got.Fix == "" {
		t.Errorf("got %+v", got)
	}
}
