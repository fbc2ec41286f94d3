package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// ticks is a clock that goes on by a millisecond each time it is read.
func ticks() func() time.Time {
	at := time.UnixMilli(1_700_000_000_000)
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Millisecond)
		return at
	}
}

func begin() *trace.Recorder {
	r, now := &trace.Recorder{}, ticks()
	r.Begin(now(), now, trace.Parent{})
	return r
}

func TestDocument(t *testing.T) {
	caller, ok := trace.ParseParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if !ok {
		t.Fatal("a valid header is refused")
	}
	r, now := &trace.Recorder{}, ticks()
	r.Begin(now(), now, caller)
	r.SetMask(strings.NewReplacer("hunter2", "[secret PASSWORD]"))
	ctx := trace.With(t.Context(), r)
	batch := trace.Start(ctx, "d1_batch", trace.Int(trace.DBBatchSize, 1))
	first := batch.Start("d1_query", trace.SQL(trace.QueryText, "INSERT INTO t (a) VALUES ('ann@example.org', 12, ?)"))
	first.End(nil, trace.Int(trace.RowsWritten, 1))
	batch.End(nil)
	trace.Start(ctx, "fetch", trace.URL(trace.FullURL, "https://me:pass@api.example.org/a?token=abc&page=2#top")).
		End(errors.New("no answer for hunter2"))
	trace.Start(ctx, "kv_get", trace.Text(trace.KVKeys, "ghp_0123456789abcdefghij")).Drop()
	trace.Start(ctx, "kv_get", trace.Text(trace.KVKeys, "ghp_0123456789abcdefghij"))
	r.Past("worker_start", r.Now())
	sealed := r.Seal()
	trace.Start(ctx, "late")
	d := sealed.Document()
	if d.ID != caller.ID || d.Caller != caller.Span || d.Root.IsZero() {
		t.Errorf("%+v", d)
	}
	var got []string
	for _, s := range d.Spans {
		text, err := s.Attributes.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %g+%g %s", s.Name, s.StartMs, s.Millis, text)
		if s.Parent != d.Root {
			line = "  " + line
		}
		if s.Error != "" {
			line += " error: " + s.Error
		}
		if s.Unfinished {
			line += " unfinished"
		}
		got = append(got, line)
	}
	const want = `d1_batch 1+3 {"db.operation.batch.size":1}
  d1_query 2+1 {"db.operation.name":"INSERT","db.query.text":"INSERT INTO t (a) VALUES (?, ?, ?)","cloudflare.d1.response.rows_written":1}
fetch 5+1 {"url.full":"https://api.example.org/a?token=***&page=2"} error: no answer for [secret PASSWORD]
kv_get 8+4 {"cloudflare.kv.query.keys":"********"} unfinished
worker_start 9+2 {}`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, d)
	var back trace.Document
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s\n%s", err, text, again)
	}
}

// sameJSON compares the document's own JSON with that of package json.
func sameJSON(t *testing.T, d trace.Document) {
	t.Helper()
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, d.AppendJSON(nil))
	want, err := json.Marshal(d)
	if err != nil || escaped.String() != string(want) {
		t.Errorf("%v, %s\nwant %s", err, &escaped, want)
	}
}

// The JSON of a document with every field, and with texts that need escapes.
func TestJSON(t *testing.T) {
	r := begin()
	r.Unassigned()
	for _, text := range []string{"", "a", `"\`, "<&>", "é\u2028\x00\x7f", "\xff", "a\n"} {
		r.Start(text, trace.Text("a", text), trace.Text("b", "next"), trace.Int("c", -1), trace.SQL(trace.QueryText, text)).
			End(errors.New(text), trace.Int("d", 1), trace.Text("e", text), trace.Int("f", 2), trace.Int("g", 3))
	}
	statements(r.Start, trace.MaxSpans)
	d := r.Seal().Document()
	if d.Dropped == 0 || len(d.Hints) == 0 {
		t.Errorf("%+v", d)
	}
	d.Spans[0].StartMs, d.Spans[0].Millis, d.Spans[0].Unfinished = 0.001, 123456789.012, true
	sameJSON(t, d)
	sameJSON(t, trace.Document{Spans: []trace.Span{}})
}

// A request with one statement costs one allocation.
func TestAllocations(t *testing.T) {
	r, now := &trace.Recorder{}, ticks()
	began := now()
	if n := testing.AllocsPerRun(100, func() {
		*r = trace.Recorder{}
		r.Begin(began, now, trace.Parent{})
		r.Start("d1_query", trace.Word(trace.DBSystem, "sqlite"), trace.SQL(trace.QueryText, "SELECT 1")).
			End(nil, trace.Int(trace.RowsRead, 1), trace.Int(trace.RowsWritten, 0), trace.Int(trace.RowsReturned, 1))
		if r.Seal() == nil {
			t.Error("the request has no trace")
		}
	}); n != 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDocument(b *testing.B) {
	r := begin()
	statements(r.Start, 2)
	sealed := r.Seal()
	b.ReportAllocs()
	for b.Loop() {
		sealed.Document().AppendJSON(nil)
	}
}

// A request that makes no call costs nothing, and has no trace.
func TestNothing(t *testing.T) {
	var none *trace.Recorder
	none.Start("x", trace.Int("a", 1)).End(nil)
	none.Past("x", none.Now())
	none.Unassigned()
	none.SetMask(nil)
	if none.Seal() != nil || !none.ID().IsZero() || !(&trace.Recorder{}).ID().IsZero() {
		t.Error("nothing has a trace")
	}
	r, now := &trace.Recorder{}, ticks()
	began := now()
	if n := testing.AllocsPerRun(100, func() {
		r.Begin(began, now, trace.Parent{})
		if r.Seal() != nil {
			t.Error("a request without a span has a trace")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBounds(t *testing.T) {
	r := begin()
	long := strings.Repeat("a, ", trace.MaxText)
	for range trace.MaxSpans + 5 {
		r.Start("d1_query", trace.SQL(trace.QueryText, long)).End(errors.New(long))
	}
	r.Unassigned()
	d := r.Seal().Document()
	if len(d.Spans) != trace.MaxSpans || d.Dropped != 5 || d.Unassigned != 1 {
		t.Errorf("%d spans, %d dropped, %d unassigned", len(d.Spans), d.Dropped, d.Unassigned)
	}
	text, err := json.Marshal(d)
	if err != nil || len(text) > trace.MaxAllText+trace.MaxSpans*300 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestParallel(t *testing.T) {
	r := begin()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				one := r.Start("a")
				one.Set(trace.Int("n", 1))
				one.Start("b").Drop()
				one.End(nil)
			}
		})
	}
	all.Wait()
	if d := r.Seal().Document(); len(d.Spans) != 160 {
		t.Errorf("%d spans", len(d.Spans))
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls func(r *trace.Recorder)
		want  int
	}{
		{"nine", func(r *trace.Recorder) { statements(r.Start, 9) }, 0},
		{"ten", func(r *trace.Recorder) { statements(r.Start, 10) }, 10},
		{"with other values", func(r *trace.Recorder) {
			for i := range 12 {
				r.Start("d1_query", trace.SQL(trace.QueryText, fmt.Sprintf("SELECT a FROM t WHERE id = %d", i))).End(nil)
			}
		}, 12},
		{"a batch", func(r *trace.Recorder) { statements(r.Start("d1_batch").Start, 50) }, 0},
		{"four fetches", func(r *trace.Recorder) { fetches(r, "a.example", 4) }, 0},
		{"five fetches", func(r *trace.Recorder) { fetches(r, "a.example", 5) }, 5},
		{"a longer run later", func(r *trace.Recorder) {
			fetches(r, "a.example", 5)
			fetches(r, "b.example", 1)
			fetches(r, "a.example", 7)
		}, 7},
		{"two hosts", func(r *trace.Recorder) { fetches(r, "a.example", 5); fetches(r, "b.example", 6) }, 11},
		{"two hosts by turns", func(r *trace.Recorder) {
			for range 10 {
				fetches(r, "a.example", 1)
				fetches(r, "b.example", 1)
			}
		}, 0},
		{"fetches at once", func(r *trace.Recorder) {
			var open []trace.Active
			for range 10 {
				open = append(open, r.Start("fetch", trace.Text(trace.ServerAddress, "a.example")))
			}
			for _, one := range open {
				one.End(nil)
			}
		}, 0},
		{"redirects", func(r *trace.Recorder) {
			for range 4 {
				fetches(r, "a.example", 1)
				r.Start("fetch", trace.Text(trace.ServerAddress, "a.example"), trace.Int(trace.ResendCount, 1)).End(nil)
			}
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin()
			c.calls(r)
			got := 0
			for _, h := range r.Seal().Document().Hints {
				got += h.Spans
			}
			if got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func statements(start func(string, ...trace.Attribute) trace.Active, n int) {
	for range n {
		start("d1_query", trace.SQL(trace.QueryText, "SELECT a FROM t WHERE id = ?")).End(nil)
	}
}

func fetches(r *trace.Recorder, host string, n int) {
	for range n {
		r.Start("fetch", trace.Text(trace.ServerAddress, host)).End(nil)
	}
}

func TestParseParent(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, want := range map[string]bool{
		"00-" + id + "-" + span + "-01":                               true,
		"00-" + id + "-" + span + "-00":                               true,
		"cc-" + id + "-" + span + "-01":                               true,
		"cc-" + id + "-" + span + "-01-more":                          true,
		"cc-" + id + "-" + span + "-01more":                           false,
		"00-" + id + "-" + span + "-01-more":                          false,
		"ff-" + id + "-" + span + "-01":                               false,
		"00-" + strings.ToUpper(id) + "-" + span + "-01":              false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":          false,
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01":            false,
		"00-" + id + "_" + span + "-01":                               false,
		"00-" + id + "-" + span + "-0g":                               false,
		"00-" + id + "-" + span:                                       false,
		" 00-" + id + "-" + span + "-01":                              false,
		"":                                                            false,
		"cc-" + id + "-" + span + "-01-" + strings.Repeat("a", 1<<10): false,
		"00-" + id[:31] + "\x00-" + span + "-01":                      false,
		strings.Repeat("-", 55):                                       false,
		"00-" + id + "-" + span + "-01\n":                             false,
	} {
		p, ok := trace.ParseParent(header)
		if ok != want || ok && (p.ID.String() != id || p.Span.String() != span) || !ok && p != (trace.Parent{}) {
			t.Errorf("%q: %v, %v", header, p, ok)
		}
	}
}
