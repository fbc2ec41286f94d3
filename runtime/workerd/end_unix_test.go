//go:build unix

package workerd_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

func kill(t *testing.T, w *workerd.Worker, s syscall.Signal) bool {
	t.Helper()
	pid := w.Process()
	if pid == 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(s) == nil
}

// TestEnds: a process that ends, full or by itself, fails its running requests with the reason, and a new process serves the next ones.
func TestEnds(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	w.SetStall(500 * time.Millisecond)
	for _, test := range []struct {
		name, target string
		during       func()
		kind         pagesruntime.Kind
		message      string
	}{
		{"a full heap", "/memory", nil, pagesruntime.KindMemory, "the Worker used more than 128 MB of memory"},
		{"memory outside of the heap", "/buffers", nil, pagesruntime.KindMemory, "the Worker used more than 128 MB of memory"},
		{
			"killed from outside", "/slow?ms=60000", func() { kill(t, w, syscall.SIGKILL) }, pagesruntime.KindReset,
			"the Worker was restarted during this request (workerd ended by itself: signal: killed)",
		},
		{
			"stopped from outside", "/slow?ms=60000", func() { kill(t, w, syscall.SIGSTOP) }, pagesruntime.KindReset,
			"workerd did not answer any more, and was restarted",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.during != nil {
				time.AfterFunc(50*time.Millisecond, test.during)
			}
			_, _, err := ask(t, w, test.target)
			f, ok := errors.AsType[*pagesruntime.Error](err)
			if !ok || f.Kind != test.kind || f.Message != test.message || f.Status() != http.StatusServiceUnavailable {
				t.Fatalf("%+v", err)
			}
			if rec, _, err := ask(t, w, "/url"); err != nil || rec.Code != http.StatusOK {
				t.Fatalf("it does not go on: %d %v", rec.Code, err)
			}
		})
	}
}

// TestExit: a Worker that ends its process by itself.
func TestExit(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	rec, _, err := ask(t, w, "/exit")
	t.Logf("%d %q %v", rec.Code, rec.Body, err)
	if err == nil {
		t.Error("it was answered")
	}
	if rec, _, err := ask(t, w, "/url"); err != nil || rec.Code != http.StatusOK {
		t.Fatalf("it does not go on: %d %v", rec.Code, err)
	}
}

// TestKills: under load, with a process that is killed again and again, each request gets its response or a reason, and acknowledged writes
// are stored.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 5
	if os.Getenv("PAGES_SOAK") != "" {
		kills = 100
	}
	var c console
	o := options(&c)
	o.Limits.ResponseBytes = 1 << 20 // all keys
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "kv.db")+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := kv.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Bindings.KV = map[string]*kv.Namespace{"KV": store}
	w := start(t, o)
	var (
		acknowledged      sync.Map
		answered, refused atomic.Int64
		over              = make(chan struct{})
		clients           sync.WaitGroup
	)
	for client := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				key := fmt.Sprintf("%d-%d", client, i)
				rec := httptest.NewRecorder()
				_, err := w.Serve(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://a/kv?key="+key, nil))
				f, failed := errors.AsType[*pagesruntime.Error](err)
				switch {
				case !failed && rec.Code == http.StatusOK && rec.Body.String() == "stored":
					answered.Add(1)
					acknowledged.Store(key, true)
				case failed && f.Kind == pagesruntime.KindReset && f.Retriable():
					refused.Add(1)
				default:
					t.Errorf("neither an answer nor a reset: %d %q %v", rec.Code, rec.Body, err)
				}
			}
		})
	}
	for n := 0; n < kills; {
		before := answered.Load()
		testmachine.Await(t, "it answers", func() bool { return answered.Load() >= before+3 })
		if kill(t, w, syscall.SIGKILL) {
			n++
		}
	}
	close(over)
	clients.Wait()
	t.Logf("%d answered, %d refused", answered.Load(), refused.Load())
	rec, _, err := ask(t, w, "/keys")
	if err != nil {
		t.Fatal(err)
	}
	there := strings.Fields(rec.Body.String())
	lost := 0
	acknowledged.Range(func(key, _ any) bool {
		if name, _ := key.(string); !slices.Contains(there, name) {
			lost++
		}
		return true
	})
	if lost > 0 {
		t.Errorf("%d keys that were acknowledged are not there", lost)
	}
}
