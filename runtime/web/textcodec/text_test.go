package textcodec

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Text in pieces must equal the whole text, wherever it is cut.
func FuzzDecodePieces(f *testing.F) {
	for _, s := range []string{"aé€😀b", "\xf0\x9f\x98A", "\xe2\x82", "\x1b$B$\"\x1b(Ba", "\x82\xa0\x82", "\xff\xfea\x00=\xd8\x00\xde"} {
		f.Add([]byte(s), uint(2))
	}
	encodings := []string{
		"utf-8", "utf-16le", "utf-16be", "shift_jis", "gbk", "big5", "euc-kr", "euc-jp", "iso-2022-jp", "gb18030", "windows-1252",
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint) {
		cut %= uint(len(b) + 1)
		for _, name := range encodings {
			whole, rest, err := Decode(name, b, IgnoreBOM)
			if err != nil || len(rest) > 0 || !utf8.ValidString(whole) {
				t.Fatalf("%s: %q, rest %q, %v", name, whole, rest, err)
			}
			first, rest, err := Decode(name, b[:cut], IgnoreBOM|Stream)
			if err != nil {
				t.Fatal(err)
			}
			second, _, err := Decode(name, append(rest, b[cut:]...), IgnoreBOM)
			if err != nil {
				t.Fatal(err)
			}
			if isExact(name) && first+second != whole {
				t.Fatalf("%s cut at %d: %q+%q, whole %q", name, cut, first, second, whole)
			}
		}
	})
}

// isExact leaves out the encodings whose tables, which are not ours, resume
// differently after an error.
func isExact(name string) bool { return strings.HasPrefix(name, "utf-") || name == "windows-1252" }
