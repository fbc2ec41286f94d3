package bundle

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestAppendText writes each character as in RFC 8785.
func TestAppendText(t *testing.T) {
	for r := range rune(0x300) {
		for _, s := range []string{string(r), "a" + string(r), "text/plain; charset=" + string(r) + "z"} {
			want, err := jsontext.AppendQuote(nil, s)
			if got := appendText(nil, s); err != nil || string(got) != string(want) {
				t.Errorf("%q: %s, want %s", s, got, want)
			}
		}
	}
}
