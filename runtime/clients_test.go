package runtime_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestManyClients: 64 concurrent clients each get their own response, while some of their requests are ended, fail or leave work behind.
func TestManyClients(t *testing.T) {
	for name, pristine := range map[string]bool{"shared": false, "request": true} {
		t.Run(name, func(t *testing.T) {
			w := mustStart(t, `export default { async fetch(request, env, ctx) {
				const n = new URL(request.url).searchParams.get("n");
				if (n % 16 === 1) throw new Error("thrown " + n);
				if (n % 16 === 2) ctx.waitUntil(new Promise((done) => setTimeout(done, 1)));
				if (n % 64 === 3) for (;;) Math.abs(1);
				await new Promise((done) => setTimeout(done, n % 3));
				return new Response("answer " + n + " " + (await request.text()));
			} }`, pagesruntime.WorkerOptions{Pristine: pristine, Limits: pagesruntime.Limits{CPU: 200 * time.Millisecond}})
			s := serve(t, w)
			var wg sync.WaitGroup
			for client := range 64 {
				wg.Go(func() {
					for round := range 5 {
						n := client + 64*round
						resp, got := get(t, s, "/?n="+strconv.Itoa(n))
						kind := resp.Header.Get("X-Kind")
						// A neighbour that was ended, or a machine that is slow, may have
						// cost the request its isolate or its budget; never its own answer.
						fine := got == "answer "+strconv.Itoa(n)+" " || kind == "reset" || kind == "cpu" || n%16 == 1 && kind == "exception"
						if !fine || pristine && kind == "reset" {
							t.Errorf("%d: %d %s %q", n, resp.StatusCode, kind, got)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
