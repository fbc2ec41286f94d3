package runtime_test

import (
	"io"
	"net/http"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestNoRoom: if the system has no room for a further isolate, the running ones serve all requests, a restarted one reuses its own memory,
// and another Worker fails to start with the reason. It runs in a separate process with its own limit.
func TestNoRoom(t *testing.T) {
	if !testmachine.InOwnProcess(t, nil) {
		return
	}
	s := serve(t, mustStart(t, `export default { async fetch(request) {
		const { pathname } = new URL(request.url);
		if (pathname === "/loop") for (;;);
		if (pathname === "/wait") await new Promise((done) => setTimeout(done, 50));
		return new Response("ok");
	} }`, pagesruntime.WorkerOptions{Isolates: 4, Limits: pagesruntime.Limits{CPU: 100 * time.Millisecond}}))
	ask := func(path string) string {
		res, err := http.Get(s.URL + path)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return err.Error()
		}
		return res.Header.Get("X-Kind") + " " + string(text)
	}
	if got := ask("/"); got != " ok" {
		t.Fatal(got)
	}
	const isolate = 272 << 20
	// The process itself must not need memory when it gets none.
	spare := make([]byte, 128<<20)
	clear(spare)
	goruntime.GC()
	// Reserved memory does not count against the memory that a process may write.
	unlimited := limit(t, unix.RLIMIT_DATA, written(t)+isolate/2)
	second := serve(t, mustStart(t, `export default { fetch() { return new Response("a second") } }`, pagesruntime.WorkerOptions{}))
	if _, got := get(t, second, "/"); got != "a second" { // it has started over by then, too
		t.Errorf("with little to write: %s", got)
	}
	limit(t, unix.RLIMIT_DATA, unlimited)
	leave := func(bytes int) { // current size, and so many more
		t.Helper()
		status, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.Atoi(strings.Fields(string(status))[0])
		if err != nil {
			t.Fatal(err)
		}
		limit(t, unix.RLIMIT_AS, uint64(pages*os.Getpagesize()+bytes))
	}
	leave(isolate / 2)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := ask("/wait"); got != " ok" {
				t.Errorf("at once: %s", got)
			}
		})
	}
	all.Wait()
	if got := ask("/loop"); !strings.HasPrefix(got, "cpu ") {
		t.Errorf("a loop: %s", got)
	}
	if got := ask("/"); got != " ok" {
		t.Errorf("after it: %s", got)
	}
	w, err := start(t, `export default { fetch() { return new Response("another") } }`, pagesruntime.WorkerOptions{})
	if err == nil || !strings.Contains(err.Error(), "the system has no room for an isolate, which reserves 272 MB of addresses") {
		t.Errorf("another Worker: %v, %v", w, err)
	}
}

// limit sets a limit of the process, and returns the earlier one.
func limit(t *testing.T, resource int, n uint64) (before uint64) {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		t.Fatal(err)
	}
	before, l.Cur = l.Cur, n
	if err := unix.Setrlimit(resource, &l); err != nil {
		t.Fatal(err)
	}
	return before
}

// written is the memory of the process that counts as its data, in bytes.
func written(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmData:")
	text, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
