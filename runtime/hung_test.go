package runtime_test

import (
	"sync"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestHungAmongOthers: a request that can never get a response fails with the reason, although
// another one always waits for something.
func TestHungAmongOthers(t *testing.T) {
	w := mustStart(t, `
		let share = null;
		export default { async fetch(request) {
			const path = new URL(request.url).pathname;
			if (path === "/hang") await new Promise(() => {});
			if (path === "/first") share = new Promise((done) => setTimeout(done, 60));
			if (path === "/second") await share;
			else await new Promise((done) => setTimeout(done, 60));
			return new Response("ok");
		} }`, pagesruntime.WorkerOptions{Isolates: 1})
	s := serve(t, w)
	over := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 { // at any time some of them wait for their timer
		wg.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					if _, got := get(t, s, "/busy"); got != "ok" {
						t.Errorf("a busy one: %q", got)
						return
					}
				}
			}
		})
	}
	for range 3 {
		if resp, _ := get(t, s, "/hang"); resp.StatusCode != 500 || resp.Header.Get("X-Kind") != "hung" {
			t.Errorf("got %d %s", resp.StatusCode, resp.Header.Get("X-Kind"))
		}
	}
	close(over)
	wg.Wait()
}

// TestHungWaitsForOthers: one request may wait for an operation of another one, an
// earlier or a later one.
func TestHungWaitsForOthers(t *testing.T) {
	waiting := make(chan struct{}, 2)
	w := mustStart(t, `
		let share = null;
		export default { async fetch(request) {
			const first = request.url.endsWith("/first");
			if (first) share = new Promise((done) => setTimeout(done, 100, "shared"));
			if (!first) console.log("waiting");
			while (share === null) await new Promise((done) => setTimeout(done, 1));
			return new Response(await share);
		} }`, pagesruntime.WorkerOptions{Isolates: 1, Console: func(pagesruntime.Line) { waiting <- struct{}{} }})
	s := serve(t, w)
	var wg sync.WaitGroup
	for _, path := range []string{"/second", "/third"} {
		wg.Go(func() {
			if _, got := get(t, s, path); got != "shared" {
				t.Errorf("%s: %q", path, got)
			}
		})
	}
	<-waiting
	<-waiting
	if _, got := get(t, s, "/first"); got != "shared" {
		t.Errorf("/first: %q", got)
	}
	wg.Wait()
}
