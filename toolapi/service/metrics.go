package service

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// metrics counts requests. Clients cannot make it grow: it only has names of existing tools and codes of the service.
type metrics struct {
	mu    sync.Mutex
	calls map[requestLabels]int64
	took  map[string]*histogram // by tool
}

type requestLabels struct {
	tool   string
	status int
	code   string
}

// bounds are the upper ends of a histogram's buckets, in seconds.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// histogram counts calls by duration. The last bucket has no bound.
type histogram struct {
	buckets [len(bounds) + 1]int64
	sum     float64
}

func (m *metrics) count(tool string, status int, code string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[requestLabels{tool, status, code}]++
	h := m.took[tool]
	if h == nil {
		h = &histogram{}
		m.took[tool] = h
	}
	at, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.buckets[at]++
	h.sum += took.Seconds()
}

// gauges are queried on each request.
var gauges = []struct{ name, help, query string }{
	{"pages_scheduled_publishes", "Scheduled publishes.", "SELECT count(*) FROM schedules WHERE at > ?1"},
	{
		"pages_overdue_publishes", "Overdue scheduled publishes.",
		"SELECT count(*) FROM schedules WHERE at <= ?1",
	},
	{
		"pages_database_bytes", "Size of the database.",
		"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size WHERE ?1 IS NOT NULL",
	},
}

// serveMetrics answers in the text format of Prometheus.
func (s *Service) serveMetrics(x *exchange) {
	var text strings.Builder
	s.metrics.write(&text)
	writeGauge := func(name, help string, value int64) {
		writeFamily(&text, name, "gauge", help)
		fmt.Fprintf(&text, "%s %d\n", name, value)
	}
	err := s.db.read(x.r.Context(), func(t tx) error {
		open, _, err := s.waitingProposals(t, 0, "", s.now())
		if err != nil {
			return err
		}
		writeGauge("pages_open_proposals", "Proposals that need approval.", int64(len(open)))
		for _, g := range gauges {
			var value int64
			if _, err := t.queryOne(g.query, []any{s.now().UnixMilli()}, &value); err != nil {
				return err
			}
			writeGauge(g.name, g.help, value)
		}
		return nil
	})
	if err != nil {
		s.refuse(x, err)
		return
	}
	writeFamily(&text, "go_goroutines", "gauge", "Goroutines.")
	fmt.Fprintf(&text, "go_goroutines %d\n", runtime.NumGoroutine())
	x.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write([]byte(text.String())) // fails only when the caller is gone
}

func writeFamily(text *strings.Builder, name, kind, help string) {
	fmt.Fprintf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m *metrics) write(text *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(m.calls), func(a, b requestLabels) int {
		return cmp.Or(strings.Compare(a.tool, b.tool), a.status-b.status, strings.Compare(a.code, b.code))
	})
	writeFamily(text, "pages_requests_total", "counter", "Requests answered.")
	for _, k := range keys {
		fmt.Fprintf(text, "pages_requests_total{tool=%q,status=\"%d\",code=%q} %d\n", k.tool, k.status, k.code, m.calls[k])
	}
	const name = "pages_request_duration_seconds"
	writeFamily(text, name, "histogram", "Response time, by tool.")
	for _, tool := range slices.Sorted(maps.Keys(m.took)) {
		h, n := m.took[tool], int64(0)
		for i, bound := range bounds {
			n += h.buckets[i]
			fmt.Fprintf(text, "%s_bucket{tool=%q,le=\"%g\"} %d\n", name, tool, bound, n)
		}
		n += h.buckets[len(bounds)]
		fmt.Fprintf(text, "%s_bucket{tool=%q,le=\"+Inf\"} %d\n%s_sum{tool=%q} %g\n%s_count{tool=%q} %d\n",
			name, tool, n, name, tool, h.sum, name, tool, n)
	}
}

// lastUse holds the last uses of keys until Clean stores them, so that a reading call does not write.
type lastUse struct {
	mu   sync.Mutex
	keys map[int64]int64
}

func (l *lastUse) note(key int64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys[key] = at.UnixMilli()
}

// last returns the last use of a key since the last take.
func (l *lastUse) last(key int64) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.keys[key]
	return at, ok
}

// take returns the uses since the last take.
func (l *lastUse) take() map[int64]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.keys
	l.keys = map[int64]int64{}
	return taken
}

// serveHealth reports whether the service can handle calls.
func (s *Service) serveHealth(x *exchange) {
	err := s.db.read(x.r.Context(), func(t tx) error {
		var n int
		_, err := t.queryOne("SELECT count(*) FROM settings", nil, &n)
		return err
	})
	if err != nil {
		s.log.Error("unhealthy", "error", err.Error())
		s.refuse(x, toolapi.NewError(toolapi.CodeUnavailable, "The database cannot be read."))
		return
	}
	x.reply(http.StatusOK, []byte(`{"ok":true}`+"\n"))
}
