package weburl

import (
	"strings"
	"testing"
)

func FuzzForm(f *testing.F) {
	for _, s := range []string{"a=1&b=2", "%zz=%41+", "&&=", "a=%ff", "=="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := decodeForm(s)
		if len(list)%2 != 0 {
			t.Fatalf("%q: %q", s, list)
		}
		again := decodeForm(encodeForm(list))
		// A pair of two empty texts is written as "=", which is read back.
		if strings.Join(again, "\x00") != strings.Join(list, "\x00") {
			t.Fatalf("%q: %q, then %q", s, list, again)
		}
	})
}
