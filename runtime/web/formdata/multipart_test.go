package formdata

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

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
	for _, c := range []struct{ name, contentType, body, want string }{
		{"no boundary", "multipart/form-data", "", "its content type has no boundary"},
		{"an empty boundary", "multipart/form-data; boundary=", "", "its content type has no boundary"},
		{"an empty body", "multipart/form-data; boundary=b", "", `its boundary "b" is not in it`},
		{"no last boundary", "multipart/form-data; boundary=b", "--b\r\n", "it ends before its last boundary"},
		{"text behind a boundary", "multipart/form-data; boundary=b", "--bx", "a boundary is not at the end of its line"},
		{
			"a line that is not a header",
			"multipart/form-data; boundary=b",
			"--b\r\nnope\r\n\r\n--b--",
			`the line "nope" in the head of a part is not a header`,
		},
		{"a part without a name", "multipart/form-data; boundary=b", "--b\r\nA: b\r\n\r\n--b--", "a part has no name"},
		{
			"another disposition",
			"multipart/form-data; boundary=b",
			"--b\r\nContent-Disposition: attachment; name=a\r\n\r\n--b--",
			`a part's disposition is "attachment", not form-data`,
		},
		{
			"an open quote",
			"multipart/form-data; boundary=b",
			"--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n--b--",
			`a part's disposition "form-data; name=\"a" has an open quote`,
		},
		{
			"too many parts",
			"multipart/form-data; boundary=b",
			strings.Repeat("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", maxParts+1) + "--b--",
			"it has more than 10000 parts",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := decodeMultipart(c.contentType, []byte(c.body)); err == nil || err.Error() != c.want {
				t.Errorf("%.60q: %v", c.body, err)
			}
		})
	}
}
