package wording

import (
	"strings"
	"testing"
)

// TestEscaper cuts a text at every byte.
func TestEscaper(t *testing.T) {
	const text, want = "a\x1bé€😀\u009b\n\t\xff\xe2\x82", `a\x1bé€😀\u009b` + "\n\t" + `\xff\xe2\x82`
	for cut := range len(text) {
		var out strings.Builder
		s := NewEscaper(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := s.Flush(); err != nil || out.String() != want || s.Escaped != 5 {
			t.Errorf("cut at %d: %q and %d escapes, %v", cut, out.String(), s.Escaped, err)
		}
	}
}
