package runtime_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// resident is the process's resident memory in bytes, without memory that Go has freed; 0 if the system does not report it.
func resident() int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// leakBound bounds the growth over ten thousand requests: two and a half
// kilobytes each, less than any retained request.
const leakBound = 24 << 20

// TestManyRequests: ten thousand requests do not increase the memory.
func TestManyRequests(t *testing.T) {
	testmachine.Long(t)
	for name, pristine := range map[string]bool{"shared": false, "request": true} {
		t.Run(name, func(t *testing.T) {
			w := mustStart(t, `
				const handlers = new Map([["/a", (u) => ({ path: u.pathname, q: [...u.searchParams] })]]);
				export default { async fetch(request, env, ctx) {
					const url = new URL(request.url), text = await request.text();
					const all = Array.from({ length: 5 }, (_, i) => ({ i, text: text + i, at: new Date(i) }));
					ctx.waitUntil(Promise.resolve().then(() => structuredClone(all[0])));
					const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
					return Response.json({ ...handlers.get("/a")(url), all, digest: [...new Uint8Array(digest)] }, {
					headers: { "x-a": text } });
				} }`, pagesruntime.WorkerOptions{Pristine: pristine, Isolates: 1})
			serve := func(times int) {
				for i := range times {
					r := httptest.NewRequest(http.MethodPost, "/a?n="+strconv.Itoa(i), strings.NewReader("body"+strconv.Itoa(i)))
					rec := httptest.NewRecorder()
					if _, err := w.Serve(rec, r); err != nil || rec.Code != http.StatusOK {
						t.Fatalf("%d: %d, %v", i, rec.Code, err)
					}
				}
			}
			serve(500)
			before, err := w.LinearMemory()
			if err != nil {
				t.Fatal(err)
			}
			rss := resident()
			serve(9500)
			after, err := w.LinearMemory()
			if err != nil || !slices.Equal(before, after) {
				t.Errorf("linear memory went from %v to %v, %v", before, after, err)
			}
			if grown := resident() - rss; grown > leakBound {
				t.Errorf("resident memory grew by %d MiB", grown>>20)
			}
		})
	}
}

// bodySize is the size of the body that passes through a Worker: `make soak` sends a gigabyte.
func bodySize() int64 {
	if os.Getenv("PAGES_SOAK") != "" {
		return 1 << 30
	}
	return 64 << 20
}

// zeros is a body of so many bytes; it looks at memory on the way.
type zeros struct {
	left    int64
	highest int64
	next    int64
}

const lookEvery = 8 << 20

// Read implements io.Reader.
func (z *zeros) Read(b []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), z.left))
	clear(b[:n])
	z.left -= int64(n)
	if z.next -= int64(n); z.next <= 0 {
		z.next = lookEvery
		z.highest = max(z.highest, resident())
	}
	return n, nil
}

// TestLargeBodies: an upload, a download and both at once go through a Worker
// without being held in memory.
func TestLargeBodies(t *testing.T) {
	w := mustStart(t, `
		export default { async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			if (pathname === "/echo") return new Response(request.body);
			if (pathname === "/up") {
				let n = 0;
				for await (const chunk of request.body) n += chunk.length;
				return new Response(String(n));
			}
			let left = Number(searchParams.get("n"));
			return new Response(new ReadableStream({ pull(c) {
				const piece = new Uint8Array(Math.min(left, 1 << 16));
				left -= piece.length;
				c.enqueue(piece);
				if (left === 0) c.close();
			} }));
		} }`, pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 10 * time.Minute, ResponseBytes: 2 << 30}})
	s := serve(t, w)
	size := bodySize()
	for _, path := range []string{"/down", "/up", "/echo"} {
		start := resident()
		up := &zeros{next: lookEvery}
		if path != "/down" {
			up.left = size
		}
		resp, err := s.Client().Post(s.URL+path+"?n="+strconv.FormatInt(size, 10), "application/octet-stream", up)
		if err != nil {
			t.Fatal(err)
		}
		down := &counted{r: resp.Body, next: lookEvery}
		if path == "/up" {
			text, err := io.ReadAll(resp.Body)
			if string(text) != strconv.FormatInt(size, 10) || err != nil {
				t.Errorf("%s: %s, %v", path, text, err)
			}
		} else if n, err := io.Copy(io.Discard, down); n != size || err != nil {
			t.Errorf("%s: %d bytes, %v", path, n, err)
		}
		_ = resp.Body.Close()
		if grown := max(up.highest, down.highest) - start; start > 0 && grown > leakBound*2 {
			t.Errorf("%s: %d MiB held %d MiB of memory", path, size>>20, grown>>20)
		}
	}
	sizes, err := w.LinearMemory()
	if err != nil || slices.Max(sizes) > 32<<20 {
		t.Errorf("linear memory of %v, %v", sizes, err)
	}
}

// counted looks at memory while it is read.
type counted struct {
	r             io.Reader
	highest, next int64
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.next -= int64(n); c.next <= 0 {
		c.next = lookEvery
		c.highest = max(c.highest, resident())
	}
	return n, err
}

// TestBackPressure: a client that does not read holds up the Worker's stream.
func TestBackPressure(t *testing.T) {
	w := mustStart(t, `
		let pulled = 0;
		export default { fetch(request) {
			if (request.url.endsWith("/pulled")) return new Response(String(pulled));
			return new Response(new ReadableStream({ pull(c) { pulled++; c.enqueue(new Uint8Array(1 << 16)) } }));
		} }`, pagesruntime.WorkerOptions{Isolates: 1})
	s := serve(t, w)
	resp, err := s.Client().Get(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.CopyN(io.Discard, resp.Body, 1<<20); err != nil {
		t.Fatal(err)
	}
	last, same := "", 0
	for range 1000 { // until the sockets are full
		_, now := get(t, s, "/pulled")
		if now != last {
			last, same = now, 0
		}
		if same++; same == 20 {
			break
		}
	}
	if n, err := strconv.Atoi(last); err != nil || n > 1000 { // 64 MB
		t.Errorf("%s pieces were made for a client that reads nothing", last)
	}
}
