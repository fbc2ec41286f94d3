package fetch

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web/mimetype"
)

// Whatever a server sends, no value of a header holds NUL, CR or LF, and the
// framing is net/http's.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{
		"", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\nX: a\x01\n\nbody",
		"HTTP/1.1 100 Go on\r\nA: \x02\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\x01\r\n\r\nx", "HTTP/1.1 200 OK\r\nX: a\x01\r\n b\r\n\r\n", "HTTP/1.1 200\r\nX : a\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: a\x01\x00\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: \x01chunked\r\nX: \x1b\r\n\r\n1\r\nx\r\n0\r\n\r\n", "\x01: \x01\r\n\r\n",
		"HTTP/1.1 200 \x01\r\nX:\x7f\r\nX : \x01\r\n\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.test/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := readResponse(strings.NewReader(in), r)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		for field := range slices.Chunk(flatten(resp.Header, ""), 2) {
			name, value := field[0], field[1]
			if !mimetype.IsToken(name) || strings.ContainsAny(value, "\x00\r\n") {
				t.Fatalf("%q: %q: %q", in, name, value)
			}
			if isFraming(name) && strings.ContainsFunc(value, isControl) {
				t.Fatalf("%q: %q: %q", in, name, value)
			}
		}
		if b, _ := io.ReadAll(resp.Body); len(b) > len(in) {
			t.Fatalf("%q: %d bytes of body", in, len(b))
		}
	})
}
