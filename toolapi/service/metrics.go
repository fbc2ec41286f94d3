package service

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// metrics counts requests. Names are those of tools that exist, and codes are ours:
// nobody can make the table grow.
type metrics struct {
	mu    sync.Mutex
	calls map[counted]*tally
}

type counted struct {
	tool   string
	status int
	code   string
}

type tally struct {
	n    int64
	took time.Duration
}

func (m *metrics) count(tool string, status int, code string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := counted{tool, status, code}
	t := m.calls[key]
	if t == nil {
		t = &tally{}
		m.calls[key] = t
	}
	t.n++
	t.took += took
}

// serveMetrics answers in the text format of Prometheus.
func (s *Service) serveMetrics(x *exchange) {
	var text strings.Builder
	s.metrics.write(&text)
	x.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write([]byte(text.String())) // fails only when the caller is gone
}

func (m *metrics) write(text *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(m.calls), func(a, b counted) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	fmt.Fprint(text, "# HELP pages_requests_total Requests answered.\n# TYPE pages_requests_total counter\n")
	for _, k := range keys {
		fmt.Fprintf(text, "pages_requests_total{tool=%q,status=\"%d\",code=%q} %d\n", k.tool, k.status, k.code, m.calls[k].n)
	}
	fmt.Fprint(text, "# HELP pages_request_seconds_total Time spent answering.\n# TYPE pages_request_seconds_total counter\n")
	for _, k := range keys {
		fmt.Fprintf(text, "pages_request_seconds_total{tool=%q,status=\"%d\",code=%q} %g\n", k.tool, k.status, k.code, m.calls[k].took.Seconds())
	}
}

// lastUse keeps when keys were used until it is written down, so that a call that
// reads writes nothing.
type lastUse struct {
	mu   sync.Mutex
	keys map[int64]int64
}

func (l *lastUse) note(key int64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys[key] = at.UnixMilli()
}

// take returns what was noted since the last time.
func (l *lastUse) take() map[int64]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.keys
	l.keys = map[int64]int64{}
	return taken
}

var _ http.Handler = (*Service)(nil)
