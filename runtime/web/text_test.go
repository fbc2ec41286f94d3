package web

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Text in pieces must be what it is as a whole, wherever it is cut.
func FuzzDecodePieces(f *testing.F) {
	for _, s := range []string{"aé€😀b", "\xf0\x9f\x98A", "\xe2\x82", "\x1b$B$\"\x1b(Ba", "\x82\xa0\x82", "\xff\xfea\x00=\xd8\x00\xde"} {
		f.Add([]byte(s), uint(2))
	}
	encodings := []string{"utf-8", "utf-16le", "utf-16be", "shift_jis", "gbk", "big5", "euc-kr", "euc-jp", "iso-2022-jp", "gb18030", "windows-1252"}
	f.Fuzz(func(t *testing.T, b []byte, cut uint) {
		cut %= uint(len(b) + 1)
		for _, name := range encodings {
			whole, rest, err := decodeText(name, b, decodeIgnoreBOM)
			if err != nil || len(rest) > 0 || !utf8.ValidString(whole) {
				t.Fatalf("%s: %q, rest %q, %v", name, whole, rest, err)
			}
			first, rest, err := decodeText(name, b[:cut], decodeIgnoreBOM|decodeStream)
			if err != nil {
				t.Fatal(err)
			}
			second, _, err := decodeText(name, append(rest, b[cut:]...), decodeIgnoreBOM)
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

func FuzzMultipart(f *testing.F) {
	const head = "multipart/form-data; boundary=b"
	for _, s := range []string{
		"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=a; filename=\"x\"\r\nContent-Type: t/y\r\n\r\n\r\n--b--",
		"pre\r\n--b\r\nContent-Disposition: form-data; name=\"%22\"\r\n\r\n--b--",
		"--b--", "--b", "--b\r\n\r\n\r\n--b--", "--b\r\nContent-Disposition: form-data\r\n\r\n--b--",
	} {
		f.Add(head, []byte(s))
	}
	f.Fuzz(func(t *testing.T, contentType string, b []byte) {
		parts, err := decodeMultipart(contentType, b)
		if err != nil {
			return
		}
		flat := []any{}
		for _, p := range parts {
			if !utf8.ValidString(p.name) || len(p.body) > len(b) {
				t.Fatalf("%+v", p)
			}
			if p.isFile {
				flat = append(flat, p.name, p.body, p.filename, p.contentType)
			} else {
				flat = append(flat, p.name, string(p.body), nil, "")
			}
		}
		const boundary = "a-boundary-that-is-not-in-the-input"
		var form bytes.Buffer
		if err := encodeMultipart(&form, boundary, flat); err != nil {
			t.Fatal(err)
		}
		again, err := decodeMultipart("multipart/form-data; boundary="+boundary, form.Bytes())
		if err != nil || len(again) != len(parts) {
			t.Fatalf("%d parts, then %d: %v", len(parts), len(again), err)
		}
	})
}

func TestMultipartErrors(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		{"multipart/form-data", "", "its content type has no boundary"},
		{"multipart/form-data; boundary=", "", "its content type has no boundary"},
		{"multipart/form-data; boundary=b", "", `its boundary "b" is not in it`},
		{"multipart/form-data; boundary=b", "--b\r\n", "it ends before its last boundary"},
		{"multipart/form-data; boundary=b", "--bx", "a boundary is not at the end of its line"},
		{"multipart/form-data; boundary=b", "--b\r\nnope\r\n\r\n--b--", `the line "nope" of a part's head is no header`},
		{"multipart/form-data; boundary=b", "--b\r\nA: b\r\n\r\n--b--", "a part has no name"},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: attachment; name=a\r\n\r\n--b--", `a part's disposition is "attachment", not form-data`},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n--b--", `a part's disposition "form-data; name=\"a" has an open quote`},
		{"multipart/form-data; boundary=b", strings.Repeat("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", maxParts+1) + "--b--", "it has more than 10000 parts"},
	} {
		if _, err := decodeMultipart(c.contentType, []byte(c.body)); err == nil || err.Error() != c.want {
			t.Errorf("%.60q: %v", c.body, err)
		}
	}
}

func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "": false, "x-gzip2": false, "gzip; q=0.0": false, "identity": false,
	} {
		if accepts(header, "gzip") != want {
			t.Errorf("%q", header)
		}
	}
}
