package manifest

import (
	"fmt"
	"testing"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
)

// TestCeilings: the message about any limit names the ceiling of the schema.
func TestCeilings(t *testing.T) {
	limits := described().Properties["limits"]
	if len(limits.keys()) == 0 {
		t.Fatal("the schema has no limits")
	}
	for _, name := range limits.keys() {
		ceiling := limits.Properties[name].Maximum
		_, diags := Parse(FileName, fmt.Appendf(nil, `{"limits":{%q:%d}}`, name, ceiling+1))
		want := fmt.Sprintf("%s is %d, over the platform ceiling of %d", name, ceiling+1, ceiling)
		if ceiling == 0 || len(diags) != 1 || diags[0].Message != want || diags[0].Fix != fmt.Sprintf("set it to %d or less", ceiling) {
			t.Errorf("%s: %+v, want %q", name, diags, want)
		}
	}
}

// TestNameLengths: the schema has the lengths of the table, and the greatest amounts.
func TestNameLengths(t *testing.T) {
	for at, want := range map[jsontree.Pointer]int{
		"/bindings/secrets/0": limits.MaxName, "/bindings/storage/name": limits.MaxName, "/bindings/kv/name": limits.MaxName,
		"/forms/0/name": limits.MaxName, "/forms/0/event": maxEvent,
	} {
		t.Run(string(at), func(t *testing.T) {
			if got := described().at(at).MaxLength; got != want {
				t.Errorf("%s: %d characters in the schema, %d in the table", at, got, want)
			}
		})
	}
}
