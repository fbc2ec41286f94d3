package runtime_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// The CPU limit ends an endless callback of a FinalizationRegistry, and the log has the place.
func TestEndlessFinalizer(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	logged := make(chan struct{}, 1)
	w := mustStart(t, `const registry = new FinalizationRegistry(() => { for (;;); });
		export default { fetch() { registry.register({}, 1); return new Response("answered") } }`, pagesruntime.WorkerOptions{
		Limits: pagesruntime.Limits{CPU: killMS * time.Millisecond},
		Console: func(l pagesruntime.Line) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, l.Text)
			select {
			case logged <- struct{}{}:
			default:
			}
		},
	})
	s := serve(t, w)
	for range 2 {
		if _, body := get(t, s, "/"); body != "answered" {
			t.Fatalf("the answer is %q", body)
		}
		<-logged
	}
	mu.Lock()
	defer mu.Unlock()
	want := fmt.Sprintf("in a callback of a FinalizationRegistry: the Worker used more than %d ms of CPU time", killMS)
	if !strings.HasPrefix(lines[0], want) {
		t.Errorf("the log is %q", lines)
	}
}
