package runtime_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestPristine: no request finds state of another one, however they come.
func TestPristine(t *testing.T) {
	w := mustStart(t, `
		let n = 0, kept = [];
		export default { async fetch(request, env, ctx) {
			n++;
			const path = new URL(request.url).pathname;
			if (path === "/later") ctx.waitUntil(new Promise((done) => setTimeout(() => { n += 100; done(); }, 20)));
			if (path === "/grow") for (let i = 0; i < 30; i++) kept.push(new Uint8Array(1 << 20));
			if (path === "/sleep") await new Promise((done) => setTimeout(done, 10));
			if (path === "/throw") throw new Error("thrown");
			return new Response(n + " " + kept.length);
		} }`, pagesruntime.WorkerOptions{Pristine: true})
	s := serve(t, w)
	want := map[string]string{"/": "1 0", "/later": "1 0", "/grow": "1 30", "/sleep": "1 0", "/throw": "Error: thrown"}
	for range 3 {
		for path, want := range want {
			if _, got := get(t, s, path); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}
	}
	var wg sync.WaitGroup
	for path, want := range want {
		for range 16 {
			wg.Go(func() {
				if _, got := get(t, s, path); !strings.HasPrefix(got, want) {
					t.Errorf("%s with others: got %q, want %q", path, got, want)
				}
			})
		}
	}
	wg.Wait()
}

// TestPristineChance: random values never repeat, although the memory does.
func TestPristineChance(t *testing.T) {
	w := mustStart(t, `
		const loaded = performance.now();
		export default { fetch() {
			return Response.json([Math.random(), crypto.getRandomValues(new Uint32Array(2)).join(), crypto.randomUUID(),
			performance.now() >= loaded, Date.now()]);
		} }`, pagesruntime.WorkerOptions{Pristine: true, Isolates: 2})
	s := serve(t, w)
	seen := map[string]bool{}
	for range 50 {
		_, body := get(t, s, "/")
		parts := strings.Split(strings.Trim(body, "[]"), ",")
		if len(parts) != 6 || parts[4] != "true" {
			t.Fatalf("got %s", body)
		}
		for _, part := range parts[:4] {
			if seen[part] {
				t.Errorf("%s came twice", part)
			}
			seen[part] = true
		}
	}
}

// TestPristineWaits: more visitors than isolates get their responses in turn, and a visitor who leaves frees the place.
func TestPristineWaits(t *testing.T) {
	w := mustStart(t,
		`let n = 0; export default { async fetch() { n++; await new Promise((done) => setTimeout(done, 5));
			return new Response(String(n)) } }`,
		pagesruntime.WorkerOptions{Pristine: true, Isolates: 2})
	s := serve(t, w)
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			if resp, got := get(t, s, "/"); got != "1" {
				t.Errorf("got %d %q", resp.StatusCode, got)
			}
		})
	}
	wg.Wait()
}

// TestWarm: a router has built its tables before the first request, and a router
// that cannot is left alone.
func TestWarm(t *testing.T) {
	const router = `
		class Router { name = "R"; built = 0; add() {} match(method, path) { %s; this.built++; return method + path } }
		const app = { router: new Router(), fetch() { return new Response(String(app.router.built)) } };
		export default app`
	for build, want := range map[string]string{"": "1", `throw new Error("no routes")`: "0"} {
		w := mustStart(t, fmt.Sprintf(router, build), pagesruntime.WorkerOptions{})
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || rec.Body.String() != want {
			t.Errorf("%q: built %s times, %v", build, rec.Body, err)
		}
	}
}

// BenchmarkIsolation is one request through a Worker without a network, in an
// isolate that answers many and in one that starts over for each.
func BenchmarkIsolation(b *testing.B) {
	for name, pristine := range map[string]bool{"shared": false, "request": true} {
		b.Run(name, func(b *testing.B) {
			w := mustStart(b, `export default { fetch: () => Response.json({ ok: true }) }`,
				pagesruntime.WorkerOptions{Pristine: pristine, Isolates: 1})
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for b.Loop() {
				if _, err := w.Serve(httptest.NewRecorder(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
