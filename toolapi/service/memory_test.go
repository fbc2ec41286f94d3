package service_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestMemoryIsFlat: calls of every kind, also without a key, leave no memory in use. With PAGES_SOAK it makes a million calls.
func TestMemoryIsFlat(t *testing.T) {
	testmachine.Unraced(t)
	calls := 5_000
	if os.Getenv("PAGES_SOAK") != "" {
		calls = 1_000_000
	}
	s, err := service.Open(t.Context(), filepath.Join(t.TempDir(), "service.db"), service.Options{
		PerMinute: 1 << 20, Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	demo, err := s.Seed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call := func(n int) {
		path, key, body, want := toolapi.ToolsPath+brand, demo.Keys["member"], "", http.StatusOK
		switch n % 16 {
		case 0:
			path, body = toolapi.ToolsPath+"content.status", `{"limit":2}`
		case 1:
			path = toolapi.ToolsPath + "schedule.read"
		case 2:
			key, want = fmt.Sprint("pgk_stranger", n), http.StatusUnauthorized
		case 3:
			path, want = fmt.Sprint(toolapi.ToolsPath, "nothing", n), http.StatusNotFound
		case 4:
			path, body = toolapi.MCPPath, rpc("", n, "tools/call", "name", brand)
		case 5:
			path, want = toolapi.UploadPath(fmt.Sprint("upl_", n)), http.StatusMethodNotAllowed
		case 6:
			body, want = "[]", http.StatusBadRequest
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		r.Header = http.Header{
			"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "X-Request-Id": {fmt.Sprint("r", n)},
		}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Fatalf("call %d: %d %s", n, w.Code, w.Body)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // frees the pools, which outlive the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for n := range calls / 5 {
		call(n)
	}
	before, routines := heap(), runtime.NumGoroutine()
	for n := range calls {
		call(calls + n)
	}
	after := heap()
	t.Logf("%d calls: the heap went from %d to %d kB", calls, before>>10, after>>10)
	const slack = 1 << 20
	if after > before+slack || runtime.NumGoroutine() > routines+2 {
		t.Errorf(
			"%d calls: the heap went from %d to %d bytes, goroutines from %d to %d", calls, before, after, routines,
			runtime.NumGoroutine(),
		)
	}
}
