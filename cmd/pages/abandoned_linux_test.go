package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAbandonedRequests has visitors leave in the midst of endless loops: the next one is answered as if they had never
// come, and the log says what became of them.
func TestAbandonedRequests(t *testing.T) {
	visitors := 20
	if os.Getenv("PAGES_SOAK") != "" {
		visitors = 200
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "w.js", "routes": [{"pattern": "/*", "access": "public"}]}`)
	put(t, filepath.Join(dir, "w.js"), `export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/loop") for (;;);
  if (pathname === "/wait") await scheduler.wait(60000);
  return new Response("ok");
} };`)
	for _, isolation := range []string{"shared", "request"} {
		d := startDev(t, dir, "--isolation", isolation)
		var left sync.WaitGroup
		for i := range visitors {
			left.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				method, path, body := http.MethodGet, []string{"/loop", "/wait"}[i%2], ""
				if i%4 > 1 {
					method, body = http.MethodPost, "nobody reads this"
				}
				req, err := http.NewRequestWithContext(ctx, method, d.URL+path, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				if resp, err := d.client.Do(req); err == nil {
					resp.Body.Close()
					t.Errorf("%s %s was answered: %d", method, path, resp.StatusCode)
				}
			})
		}
		left.Wait()
		began := time.Now()
		resp, err := d.client.Get(d.URL + "/ok")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		// With the default budget of ten seconds for each, the next visitor waited for minutes.
		if took := time.Since(began); resp.StatusCode != http.StatusOK || took > 5*time.Second {
			t.Errorf("%s: the next visitor got %d after %v", isolation, resp.StatusCode, took)
		}
		missed := 0
		for end := time.Now().Add(patience); missed < visitors && time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			out, err := exec.Command(program(t), "logs", dir, "--status", "499", "--limit", "1000", "--json").Output()
			var log struct{ Requests []struct{ Error string } }
			if err != nil || json.Unmarshal(out, &log) != nil {
				t.Fatalf("%v: %s", err, out)
			}
			missed = len(log.Requests)
			for _, r := range log.Requests {
				if !strings.Contains(r.Error, "the client went away") {
					t.Fatalf("the log says %q", r.Error)
				}
			}
		}
		if missed < visitors || strings.Count(d.stderr.String(), "the client went away") < visitors {
			t.Errorf("%s: %d of %d requests are in the log as left\n%s", isolation, missed, visitors, d.stderr)
		}
		if code := d.stop(); code != 0 {
			t.Errorf("it ended with %d", code)
		}
		if err := os.RemoveAll(filepath.Join(dir, ".pages")); err != nil {
			t.Fatal(err)
		}
	}
}
