package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const endlessWorker = `export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/loop") for (;;);
  if (pathname === "/wait") await scheduler.wait(60000);
  return new Response("ok");
} };`

// clientCount is the number of clients that leave at a time.
func clientCount() int {
	if os.Getenv("PAGES_SOAK") != "" {
		return 200
	}
	return 20
}

// abandon makes n clients leave during loops and waits, and bounds the wait of the next client. With the default budget of ten seconds for
// each, that would take minutes. The first to leave a loop ends the isolate: a client that shares it and leaves a moment later may still
// get the 503 of a restart.
func abandon(t *testing.T, client *http.Client, base, host string, n int) {
	t.Helper()
	methods, paths := []string{http.MethodGet, http.MethodPost, http.MethodHead}, []string{"/loop", "/wait"}
	var left sync.WaitGroup
	for i := range n {
		left.Go(func() {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
				time.AfterFunc(300*time.Millisecond, leave)
			}})
			method, path, body := methods[i%len(methods)], paths[i%len(paths)], ""
			if method == http.MethodPost {
				body = "an unread body"
			}
			r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Host = host
			if resp, err := client.Do(r); err == nil {
				resp.Body.Close()
				if resp.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("%s %s was answered: %d", method, path, resp.StatusCode)
				}
			}
		})
	}
	left.Wait()
	began := time.Now()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/ok", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if took := time.Since(began); resp.StatusCode != http.StatusOK || took > 5*time.Second {
		t.Errorf("the next visitor got %d after %v", resp.StatusCode, took)
	}
}

// TestAbandonedRequests makes visitors leave during endless loops: the next visitor gets a response as usual, and the log records the
// abandoned requests.
func TestAbandonedRequests(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "w.js", "routes": [{"pattern": "/*", "access": "public"}]}`)
	put(t, filepath.Join(dir, "w.js"), endlessWorker)
	for _, isolation := range []string{"shared", "request"} {
		d := startDev(t, dir, "--isolation", isolation)
		abandon(t, d.client, d.URL, "", clientCount())
		type record struct {
			Method, Path, Error string
			Status              int
			Meter               struct {
				CPUMs float64 `json:"cpu_ms"`
			}
		}
		var left []record
		for end := time.Now().Add(patience); len(left) < clientCount() && time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			out, err := exec.Command(program(t), "logs", dir, "--status", "499,503", "--limit", "1000", "--json").Output()
			var log struct{ Requests []record }
			if err != nil || json.Unmarshal(out, &log) != nil {
				t.Fatalf("%v: %s", err, out)
			}
			left = log.Requests
		}
		ran, gone := false, 0
		for _, r := range left {
			switch {
			case r.Status == http.StatusServiceUnavailable && strings.Contains(r.Error, "the Worker was restarted"):
			case r.Status == 499 && strings.Contains(r.Error, "the client went away"):
				gone++
			default:
				t.Errorf("the log says %d %q of %s %s", r.Status, r.Error, r.Method, r.Path)
			}
			ran = ran || r.Path == "/loop" && r.Meter.CPUMs > 10
		}
		if !ran {
			t.Errorf("%s: the log has no CPU time of a loop: %+v", isolation, left)
		}
		if len(left) < clientCount() || gone < clientCount()/2 || strings.Count(d.stderr.String(), "the client went away") < gone {
			t.Errorf("%s: %d of %d requests are in the log, %d as left\n%s", isolation, len(left), clientCount(), gone, d.stderr)
		}
		if code := d.stop(); code != 0 {
			t.Errorf("it ended with %d", code)
		}
		if err := os.RemoveAll(filepath.Join(dir, ".pages")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAbandonedPublished is the same for a published site, a few times: abandoned requests
// hold no slot that a later visitor needs.
func TestAbandonedPublished(t *testing.T) {
	p := startPlatform(t, t.TempDir())
	p.ship(
		t, p.Demo["unpublished_site_id"], `{"entry":"w.js","routes":[{"pattern":"/*","access":"public"}]}`,
		map[string]string{"w.js": endlessWorker},
	)
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		abandon(t, p.client, p.URL, demoNew+":"+u.Port(), clientCount())
	}
	if log := p.stderr.String(); strings.Contains(log, "a Worker failed") {
		t.Errorf("who leaves is no failure of the site: %s", log)
	}
}
