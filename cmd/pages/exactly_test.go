package main

import (
	"strings"
	"testing"
)

// TestShownText cuts a text everywhere.
func TestShownText(t *testing.T) {
	const text, want = "a\x1bé€😀\u009b\n\t\xff\xe2\x82", `a\x1bé€😀\u009b` + "\n\t" + `\xff\xe2\x82`
	for cut := range len(text) {
		var out strings.Builder
		s := &shownText{to: &out}
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := s.flush(); err != nil || out.String() != want || s.escaped != 5 {
			t.Errorf("cut at %d: %q and %d escapes, %v", cut, out.String(), s.escaped, err)
		}
	}
}
