package service_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// key makes a key of Ana's with a cap of its own.
func (w *fixture) key(perMinute int) string {
	w.Helper()
	key, err := w.service.CreateKey(w.Context(), service.NewKey{Holder: "ana@acme.test", PerMinute: perMinute})
	if err != nil {
		w.Fatal(err)
	}
	return key
}

// hits calls n times and counts the admitted calls.
func (w *fixture) hits(key string, n int) (admitted int) {
	w.Helper()
	for range n {
		if w.request(http.MethodPost, toolapi.ToolsPath+brand, key, "").status == http.StatusOK {
			admitted++
		}
	}
	return admitted
}

func TestRollingWindow(t *testing.T) {
	w := newFixture(t)
	key, other := w.key(60), w.key(60)
	w.pass(59 * time.Second)
	if n := w.hits(key, 60); n != 60 {
		t.Errorf("H-020: %d of 60", n)
	}
	w.pass(2 * time.Second)
	if n := w.hits(key, 60); n != 0 {
		t.Errorf("H-020: %d after two seconds; a fixed window would admit 60", n)
	}
	a := w.request(http.MethodPost, toolapi.ToolsPath+brand, key, "")
	nested, _ := a.fields["error"].(map[string]any)
	if a.status != 429 || a.header.Get("Retry-After") != "58" || a.header.Get("RateLimit-Reset") != "58" ||
		a.fields["retry_after_seconds"] != 58.0 || nested["retry_after_seconds"] != 58.0 {
		t.Errorf("H-022: %v %s", a.header, a.body)
	}
	if n := w.hits(other, 1); n != 1 {
		t.Error("H-025: another key has no window of its own")
	}
	for range 57 {
		w.pass(time.Second)
		w.hits(key, 2) // who hammers is not kept out for longer
	}
	w.pass(999 * time.Millisecond)
	if n := w.hits(key, 1); n != 0 {
		t.Error("H-021: freed too early")
	}
	w.pass(time.Millisecond)
	if n := w.hits(key, 61); n != 60 {
		t.Errorf("H-021: %d freed", n)
	}
}

func TestRateHeaders(t *testing.T) {
	w := newFixture(t)
	key := w.key(10)
	left := 10
	for _, c := range []struct {
		tool, body string
		status     int
	}{{brand, "", 200}, {brand, "[]", 400}, {"nothing", "", 404}, {brand, `{"x":1}`, 200}} {
		a := w.request(http.MethodPost, toolapi.ToolsPath+c.tool, key, c.body)
		left--
		if a.status != c.status || a.header.Get("RateLimit-Remaining") != strconv.Itoa(left) ||
			a.header.Get("RateLimit-Limit") != "10" || a.header.Get("RateLimit-Reset") != "60" {
			t.Errorf("%s %q: %d %v", c.tool, c.body, a.status, a.header)
		}
	}
	w.sql("UPDATE accounts SET api_enabled = 0")
	for range 20 {
		w.request(http.MethodPost, toolapi.ToolsPath+brand, key, "")
		w.request(http.MethodPost, toolapi.ToolsPath+brand, "pgk_unknown", "")
	}
	w.sql("UPDATE accounts SET api_enabled = 1")
	if n := w.hits(key, 10); n != 6 {
		t.Errorf("H-024: %d of 6 left", n)
	}
}

// TestRateOfPages: an import over the rate gets the time to wait only in the header (section 7.3).
func TestRateOfPages(t *testing.T) {
	w := newFixture(t)
	key := w.key(1)
	w.hits(key, 1)
	for path, told := range map[string]bool{toolapi.ImportsPath: false, toolapi.PreviewLinksPath: true, toolapi.UploadsPath: true} {
		a := w.request(http.MethodPost, path, key, "{}")
		inner, _ := a.fields["error"].(map[string]any)
		if a.status != 429 || a.header.Get("Retry-After") != "60" || inner["code"] != toolapi.CodeRateLimited ||
			(inner["retry_after_seconds"] == 60.0) != told {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, a.body)
		}
	}
}

func TestParallelRate(t *testing.T) {
	w := newFixture(t)
	for range 3 {
		key := w.key(10)
		var group sync.WaitGroup
		var mu sync.Mutex
		admitted := 0
		for range 100 {
			group.Go(func() {
				n := w.hits(key, 1)
				mu.Lock()
				defer mu.Unlock()
				admitted += n
			})
		}
		group.Wait()
		if admitted != 10 {
			t.Errorf("%d admitted", admitted)
		}
	}
}

func TestWallClockSteps(t *testing.T) {
	w := newFixture(t)
	for _, step := range []time.Duration{-time.Hour, time.Hour} {
		key := w.key(3)
		w.hits(key, 3)
		w.step(step)
		if n := w.hits(key, 1); n != 0 {
			t.Errorf("%v: free quota", step)
		}
		w.pass(time.Minute)
		if n := w.hits(key, 4); n != 3 {
			t.Errorf("%v: %d after a minute", step, n)
		}
	}
}

// TestCapsThatChange: a cap takes effect at once, and calls are not forgotten for it.
func TestCapsThatChange(t *testing.T) {
	w := newFixture(t)
	key := w.key(5)
	w.hits(key, 5)
	w.sql("UPDATE keys SET per_minute = 8 WHERE per_minute = 5 AND name = 'key'")
	if n := w.hits(key, 8); n != 3 {
		t.Errorf("%d more after the cap rose by 3", n)
	}
	w.sql("UPDATE keys SET per_minute = 2 WHERE per_minute = 8")
	if n := w.hits(key, 8); n != 0 {
		t.Errorf("%d more after the cap fell", n)
	}
}

func TestLastUse(t *testing.T) {
	w := newFixture(t)
	key := w.key(5)
	w.hits(key, 1)
	if err := w.service.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := w.service.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := keys[len(keys)-1]
	if !last.LastUsed.Equal(start) || last.Prefix != key[:len(last.Prefix)] || len(last.Prefix) > 12 || last.Holder != "ana@acme.test" {
		t.Errorf("%+v", last)
	}
	if stored := w.snapshot(); len(stored) == 0 || strings.Contains(stored, key[12:]) {
		t.Error("a key is stored as it is")
	}
	if err := w.service.RevokeKey(t.Context(), last.ID); err != nil || w.hits(key, 1) != 0 {
		t.Errorf("a revoked key works: %v", err)
	}
	if err := w.service.RevokeKey(t.Context(), 999); err == nil {
		t.Error("an unknown key was revoked")
	}
}
