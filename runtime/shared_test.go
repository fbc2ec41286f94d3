package runtime_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// TestSharedPromise: requests that wait for an operation of one of them each continue on their own, with their own body, subrequests,
// timers and log, even after the end of the first request.
func TestSharedPromise(t *testing.T) {
	const visitors = 8
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }))
	defer peer.Close()
	var mu sync.Mutex
	logged := map[string]string{} // by path of the request
	w := mustStart(t, `
		const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
		let arrived = 0, ready, go;
		export default { async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			ready ??= new Promise((done) => { go = done; });
			if (++arrived === `+strconv.Itoa(visitors)+`) go();
			const beat = setInterval(() => {}, 1);
			await ready;
			clearInterval(beat);
			let text = await request.text();
			for (let n = 0; n < Number(pathname.slice(1)); n++) {
				await sleep(5);
				text += await (await fetch("`+peer.URL+`/" + n)).text();
			}
			console.log("over");
			return new Response(text);
		} }`,
		pagesruntime.WorkerOptions{
			Isolates: 1, Web: web.Options{AllowFetch: []string{"127.0.0.1"}},
			Limits: pagesruntime.Limits{SubRequests: visitors - 1}, Console: func(l pagesruntime.Line) {
				mu.Lock()
				defer mu.Unlock()
				logged[l.Request.URL.Path] += l.Text
			},
		})
	var wg sync.WaitGroup
	for n := range visitors {
		wg.Go(func() {
			path := "/" + strconv.Itoa(n)
			answer := httptest.NewRecorder()
			usage, err := w.Serve(answer, httptest.NewRequest(http.MethodPost, path, strings.NewReader("body "+path+":")))
			want := "body " + path + ":"
			for k := range n {
				want += "/" + strconv.Itoa(k)
			}
			if err != nil || answer.Body.String() != want || usage.SubRequests != n {
				t.Errorf("%s: %q, %d subrequests, error %v; want %q, %d", path, answer.Body, usage.SubRequests, err, want, n)
			}
		})
	}
	wg.Wait()
	for n := range visitors {
		if path := "/" + strconv.Itoa(n); logged[path] != "over" {
			t.Errorf("the log of %s: %q", path, logged[path])
		}
	}
}

// TestSharedStream: one request may feed a stream that another one reads.
func TestSharedStream(t *testing.T) {
	w := mustStart(t, `
		const readers = [];
		export default { async fetch(request) {
			if (request.url.endsWith("/read")) {
				let beat;
				return new Response(new ReadableStream({
					start(controller) { beat = setInterval(() => controller.enqueue("."), 1); },
					async pull(controller) {
						controller.enqueue(await new Promise((give) => readers.push(give)));
					},
					cancel() { clearInterval(beat); },
				}).pipeThrough(new TransformStream({ transform(chunk, c) { if (chunk !== ".") c.enqueue(chunk);
				} })).pipeThrough(new TextEncoderStream()));
			}
			const text = await request.text();
			let n = 0;
			for (const give of readers.splice(0)) { give(text); n++; }
			return new Response(String(n));
		} }`, pagesruntime.WorkerOptions{Isolates: 1})
	s := serve(t, w)
	resp, err := s.Client().Get(s.URL + "/read")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := make([]byte, 1)
	for _, c := range "one by one" {
		for told := "0"; told == "0"; { // the reader may not have come back yet
			answer, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(string(c)))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			told = string(body)
		}
		if _, err := resp.Body.Read(got); err != nil || got[0] != byte(c) {
			t.Fatalf("read %q, %v; want %q", got, err, c)
		}
	}
}

// TestLostPromise: code that awaits in a finished request does not continue, and the log reports it once.
func TestLostPromise(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	w := mustStart(t, `
		let settle, seen = "nothing";
		export default { async fetch(request) {
			const { pathname } = new URL(request.url);
			if (pathname === "/wait") new Promise((done) => { settle = done; }).then(() => { seen = "lost"; });
			if (pathname === "/settle") settle();
			return new Response(seen);
		} }`, pagesruntime.WorkerOptions{Isolates: 1, Console: func(l pagesruntime.Line) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l.Request.URL.Path+" "+l.Level+": "+l.Text)
	}})
	s := serve(t, w)
	for _, path := range []string{"/wait", "/settle", "/", "/wait", "/settle", "/"} {
		if _, got := get(t, s, path); got != "nothing" {
			t.Errorf("%s: %q", path, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "/settle warn: a promise was settled that a request awaited which has ended") {
		t.Errorf("the log: %q", lines)
	}
}
