package site

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/pages-toolchain/pages/manifest"
)

// answering is a Worker whose query describes the response: each name is a header, except "status", "n" for the length of the body, and
// "pieces" for a stream of them.
type answering struct{}

const answerText = "the water in the river is high today, and the crew stays at home\n"

func (answering) Serve(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	body := strings.Repeat(answerText, number("n", 10_000)/len(answerText)+1)[:number("n", 10_000)]
	for name := range q {
		if name != "status" && name != "n" && name != "pieces" {
			w.Header().Set(name, q.Get(name))
		}
	}
	w.WriteHeader(number("status", http.StatusOK))
	if r.Method == http.MethodHead {
		return nil
	}
	for range number("pieces", 0) {
		_, _ = io.WriteString(w, answerText)
		_ = http.NewResponseController(w).Flush()
	}
	if !q.Has("pieces") {
		_, _ = io.WriteString(w, body)
	}
	return nil
}

func workerSite(t testing.TB) *fixture {
	t.Helper()
	return start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*", "members /club")}, Worker: answering{},
	})
}

func TestCompressedAnswersOfWorkers(t *testing.T) {
	f := workerSite(t)
	whole := strings.Repeat(answerText, 200)[:10_000]
	for _, coding := range []string{"br", "zstd", "gzip", "gzip"} { // the last one used already
		got := f.get(t, "/?Content-Type=application/json", "Accept-Encoding: "+coding)
		if got.header.Get("Content-Encoding") != coding || got.header.Get("Vary") != "Accept-Encoding" ||
			decoded(t, coding, got.body) != whole || len(got.body) > 1000 {
			t.Errorf("%s: %d bytes, %v", coding, len(got.body), got.header)
		}
	}
	for _, c := range []struct {
		query, accept string
		coding        string
		with          string // another header of the answer
	}{
		{"Content-Type=text/plain", "gzip", "gzip", ""},
		{"Content-Type=text/html%3Bcharset=utf-8", "gzip", "gzip", ""},
		{"Content-Type=application/vnd.api%2Bjson", "gzip", "gzip", ""},
		{"Content-Type=text/plain&status=404", "gzip", "gzip", ""},
		{"Content-Type=text/plain&Content-Length=10000", "gzip", "gzip", ""},
		{"Content-Type=text/plain&n=1023", "gzip", "", ""},
		{"Content-Type=text/plain&n=1024", "gzip", "gzip", ""},
		{"Content-Type=text/plain&n=1023&Content-Length=1023", "gzip", "", "Content-Length: 1023"},
		{"Content-Type=text/plain&pieces=3", "gzip", "gzip", ""},
		{"Content-Type=text/plain&Etag=\"a\"", "gzip", "gzip", `Etag: W/"a"`},
		{"Content-Type=text/plain&Etag=W/\"a\"", "gzip", "gzip", `Etag: W/"a"`},
		{"Content-Type=text/plain&Vary=Cookie,accept-encoding", "gzip", "gzip", "Vary: Cookie,accept-encoding"},
		{"Content-Type=text/plain&Accept-Ranges=bytes", "gzip", "gzip", "Accept-Ranges: "},

		{"Content-Type=text/plain", "identity", "", "Vary: "},
		{"Content-Type=image/png", "gzip", "", ""},
		{"Content-Type=", "gzip", "", ""},
		{"Content-Type=text/event-stream", "gzip", "", ""},
		{"Content-Type=text/plain&Content-Encoding=identity", "gzip", "identity", ""},
		{"Content-Type=text/plain&Content-Encoding=aes128gcm", "gzip", "aes128gcm", ""},
		{"Content-Type=text/plain&Cache-Control=public,No-Transform", "gzip", "", ""},
		{"Content-Type=text/plain&Content-Range=bytes%200-9999/20000&status=206", "gzip", "", ""},
		{"Content-Type=text/plain&status=206", "gzip", "", ""},
		{"Content-Type=text/plain&Content-Digest=x&Etag=\"a\"", "gzip", "", `Etag: "a"`},
		{"Content-Type=text/plain&status=304&n=0", "gzip", "", ""},
		{"Content-Type=text/plain&status=204&n=0", "gzip", "", ""},
	} {
		t.Run(c.query+" "+c.accept, func(t *testing.T) {
			got := f.get(t, "/?"+c.query, "Accept-Encoding: "+c.accept)
			if got.header.Get("Content-Encoding") != c.coding {
				t.Errorf("%s for %q: %v", c.query, c.accept, got.header)
			}
			if name, value, ok := strings.Cut(c.with, ": "); ok && got.header.Get(name) != value {
				t.Errorf("%s: %s is %q, want %q", c.query, name, got.header.Get(name), value)
			}
			if c.coding == "gzip" && !strings.HasPrefix(decoded(t, "gzip", got.body), answerText) {
				t.Errorf("%s: %q", c.query, got.body)
			}
		})
	}
	head := f.do(t, nil, "HEAD", "/?Content-Type=text/plain&Content-Length=10000&Etag=\"a\"", "", "Accept-Encoding: gzip")
	if head.header.Get("Content-Encoding") != "gzip" || head.header.Get("Etag") != `W/"a"` || head.header.Get("Content-Length") != "" {
		t.Errorf("HEAD: %v", head.header)
	}
	if head := f.do(
		t, nil, "HEAD", "/?Content-Type=text/plain&Content-Length=10", "", "Accept-Encoding: gzip",
	); head.header.Get("Content-Length") != "10" {
		t.Errorf("HEAD of a short one: %v", head.header)
	}
	club := f.do(t, f.as(t, "member"), "GET", "/club?Content-Type=text/plain", "", "Accept-Encoding: br")
	if vary := strings.Join(club.header.Values("Vary"), ", "); vary != "Accept-Encoding, Cookie" ||
		club.header.Get("Cache-Control") != "no-store" {
		t.Errorf("for members: %v", club.header)
	}
	marked := request(t, "/?Content-Type=text/html", "gzip")
	if got := recordResponse(f.site, marked.WithContext(WithoutEncoding(marked.Context()))); got.header.Get("Content-Encoding") != "" {
		t.Errorf("who changes the answer gets %v", got.header)
	}
}

// pieces is a Worker that writes each piece that the test sends.
type pieces chan string

func (p pieces) Serve(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain")
	for text := range p {
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	return nil
}

// Each piece of a stream arrives when it is written, although the stream is compressed.
func TestCompressedStreamsComeAtOnce(t *testing.T) {
	p := make(pieces)
	f := start(t, Options{}, Revision{Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}, Worker: p})
	r := request(t, "/", "gzip")
	r.URL.Host = f.server.Listener.Addr().String()
	go func() { p <- "0\n" }()
	res, err := f.client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(res.Header)
	}
	plain, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(plain)
	for i := range 5 {
		if i > 0 {
			p <- strconv.Itoa(i) + "\n"
		}
		if line, err := lines.ReadString('\n'); line != strconv.Itoa(i)+"\n" {
			t.Fatalf("piece %d: %q, %v", i, line, err)
		}
	}
	close(p)
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("after the last: %q, %v", rest, err)
	}
}

// breaking is a Worker whose response breaks off.
type breaking struct{}

func (breaking) Serve(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, strings.Repeat(answerText, 100))
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	return conn.Close()
}

// A compressed response that breaks off does not look complete.
func TestCompressedAnswersBreakOff(t *testing.T) {
	f := start(t, Options{}, Revision{Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*")}, Worker: breaking{}})
	r := request(t, "/", "gzip")
	r.URL.Host = f.server.Listener.Addr().String()
	res, err := f.client(t).Do(r)
	if err != nil {
		return // not even the head has arrived
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("%d bytes look whole", len(body))
	}
}

func BenchmarkCompressedAnswer(b *testing.B) {
	f := workerSite(b)
	for _, coding := range []string{"br", "zstd", "gzip"} {
		b.Run(coding, func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://localhost/?Content-Type=text/html", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", coding)
			for b.Loop() {
				if got := recordResponse(f.site, r); got.header.Get("Content-Encoding") != coding {
					b.Fatal(got.header)
				}
			}
		})
	}
}
