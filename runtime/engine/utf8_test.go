package engine_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestDecodeUTF8(t *testing.T) {
	const bad = "\ufffd"
	for in, want := range map[string]string{
		"":                         "",
		"abc é€😀":                  "abc é€😀",
		"\xff":                     bad,
		"\xc0\x80":                 bad + bad,
		"\xe2\x82A":                bad + "A",
		"\xe2\x82":                 bad,
		"\xf0\x9f\x98":             bad,
		"\xf0\x9f\x98A\xf0\x9f":    bad + "A" + bad,
		"\xed\xa0\x80":             bad + bad + bad,
		"\xf4\x90\x80\x80":         bad + bad + bad + bad,
		"\xf8\x88\x80\x80\x80":     strings.Repeat(bad, 5),
		"\xf1\x80\x80\xe1\x80\xc2": bad + bad + bad,
	} {
		t.Run(in, func(t *testing.T) {
			if got := engine.DecodeUTF8([]byte(in)); got != want {
				t.Errorf("%q: got %q, want %q", in, got, want)
			}
		})
	}
}
