package otlp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	spans "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// receiver is an OTLP receiver over HTTP, which decodes with the generated types.
type receiver struct {
	*httptest.Server

	t       *testing.T
	mu      sync.Mutex
	replies []func(http.ResponseWriter) // of the next calls; then 200
	calls   int
	headers http.Header
	got     []*spans.ResourceSpans
}

func newReceiver(t *testing.T, replies ...func(http.ResponseWriter)) *receiver {
	t.Helper()
	r := &receiver{t: t, replies: replies}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || len(request.ProtoReflect().GetUnknown()) > 0 || q.URL.Path != "/v1/traces" || q.Method != http.MethodPost {
		r.t.Errorf("%s %s: %v", q.Method, q.URL, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	r.headers = q.Header
	if len(r.replies) > 0 {
		reply := r.replies[0]
		r.replies = r.replies[1:]
		if reply(w); w.Header().Get("X-Accepted") == "" {
			return
		}
	}
	r.got = append(r.got, request.GetResourceSpans()...)
}

// requests counts the requests that arrived.
func (r *receiver) requests() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range r.got {
		for _, s := range list.GetScopeSpans()[0].GetSpans() {
			if s.GetKind() == spans.Span_SPAN_KIND_SERVER {
				n++
			}
		}
	}
	return n
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// options are those of an exporter to the receiver, whose pauses end at once and are noted.
func (r *receiver) options(pauses *[]time.Duration, told *[]string) Options {
	address, err := ParseURL(r.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	now := make(chan time.Time)
	close(now)
	var mu sync.Mutex
	return Options{
		URL: address, Service: "riverside", Version: "1.2.3", Headers: http.Header{"X-Key": {"secret"}},
		Now: func() time.Time { return began },
		After: func(d time.Duration) <-chan time.Time {
			mu.Lock()
			defer mu.Unlock()
			*pauses = append(*pauses, d)
			return now
		},
		Tell: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			*told = append(*told, strings.ReplaceAll(text, r.URL, "URL"))
		},
	}
}

var began = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// record is a request of a script, with one step in another.
func record(t *testing.T, header string) site.RequestRecord {
	t.Helper()
	caller, ok := trace.ParseParent(header)
	if ok != (header != "") {
		t.Fatal(header)
	}
	r, at := &trace.Recorder{}, began
	r.Begin(began, func() time.Time { at = at.Add(time.Millisecond); return at }, caller)
	batch := r.Start("d1_batch", trace.Word(trace.DBSystem, "sqlite"), trace.Int(trace.DBBatchSize, 1))
	batch.Start("d1_query", trace.SQL(trace.QueryText, "INSERT INTO t VALUES ('Ann')")).End(nil, trace.Int(trace.RowsWritten, 1))
	batch.End(nil)
	r.Start("fetch", trace.URL(trace.FullURL, "http://a.example/?token=abc"), trace.Text(trace.ServerAddress, "a.example")).
		End(errors.New("refused"))
	r.Start("images_transform")
	return site.RequestRecord{
		ID: "req_a", At: site.Stamp{Time: began}, Method: "POST", Path: "/api/a", Query: "q=1", Route: "/api/*", Status: 500, Bytes: 12,
		Millis: 20.5, Source: site.FromWorker, Meter: &site.Meter{CPUMs: 1.5}, Error: "boom",
		Failure: &site.Failure{Kind: "exception", Name: "TypeError", Message: "boom\xff"},
		TraceID: r.ID(), SpanID: r.Parent().Span, CallerID: r.Caller(), Trace: r.Seal(),
	}
}

// tree writes the spans of calls as a tree of names, with kinds, times after began, statuses and attributes.
func tree(list []*spans.ResourceSpans) string {
	var b strings.Builder
	children := map[string][]*spans.Span{}
	ids := map[string]bool{}
	for _, r := range list {
		fmt.Fprintln(&b, attributes(r.GetResource().GetAttributes()))
		for _, s := range r.GetScopeSpans() {
			fmt.Fprintln(&b, s.GetScope().GetName())
			for _, span := range s.GetSpans() {
				ids[string(span.GetSpanId())] = true
				children[string(span.GetParentSpanId())] = append(children[string(span.GetParentSpanId())], span)
			}
		}
	}
	var write func(parent, indent string)
	write = func(parent, indent string) {
		for _, s := range children[parent] {
			ms := func(nanos uint64) float64 { return float64(nanos-uint64(began.UnixNano())) / 1e6 }
			kind := strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"))
			fmt.Fprintf(&b, "%s%s %s %g-%g %s", indent, s.GetName(), kind,
				ms(s.GetStartTimeUnixNano()), ms(s.GetEndTimeUnixNano()), attributes(s.GetAttributes()))
			if s.GetStatus().GetCode() == spans.Status_STATUS_CODE_ERROR {
				fmt.Fprintf(&b, " error %q", s.GetStatus().GetMessage())
			}
			for _, e := range s.GetEvents() {
				fmt.Fprintf(&b, " %s %g %s", e.GetName(), ms(e.GetTimeUnixNano()), attributes(e.GetAttributes()))
			}
			b.WriteByte('\n')
			write(string(s.GetSpanId()), indent+"  ")
		}
	}
	for parent := range children {
		if !ids[parent] {
			fmt.Fprintf(&b, "parent %x\n", parent)
			write(parent, "")
		}
	}
	return b.String()
}

func attributes(list []*common.KeyValue) string {
	var parts []string
	for _, a := range list {
		var value any
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			value = v.StringValue
		case *common.AnyValue_IntValue:
			value = v.IntValue
		case *common.AnyValue_DoubleValue:
			value = v.DoubleValue
		}
		parts = append(parts, fmt.Sprintf("%s=%v", a.GetKey(), value))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// The tree of a request equals the script, in the trace of its client.
func TestExport(t *testing.T) {
	var pauses []time.Duration
	var told []string
	r := newReceiver(t)
	e := Open(t.Context(), r.options(&pauses, &told))
	e.Add(record(t, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	e.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	const want = `{service.name=riverside deployment.environment.name=development telemetry.sdk.name=pages telemetry.sdk.language=go ` +
		`telemetry.sdk.version=1.2.3}
pages
parent 00f067aa0ba902b7
POST /api/* server 0-20.5 {http.request.method=POST url.path=/api/a url.query=q=1 http.route=/api/* http.response.status_code=500 ` +
		`http.response.body.size=12 pages.request.id=req_a pages.source=worker pages.cpu_ms=1.5 error.type=TypeError} error "boom" ` +
		`exception 20.5 {exception.type=TypeError exception.message=boom�}
  d1_batch client 1-4 {db.system.name=sqlite db.operation.batch.size=1}
    d1_query client 2-3 {db.operation.name=INSERT db.query.text=INSERT INTO t VALUES (?) cloudflare.d1.response.rows_written=1}
  fetch client 5-6 {url.full=http://a.example/?token=*** server.address=a.example} error "refused"
  images_transform internal 7-8 {pages.unfinished=1}
`
	if got := tree(r.got); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range r.got[0].GetScopeSpans()[0].GetSpans() {
		remote := spans.SpanFlags(s.GetFlags())&spans.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK != 0
		if fmt.Sprintf("%x", s.GetTraceId()) != "4bf92f3577b34da6a3ce929d0e0e4736" ||
			remote != (s.GetKind() == spans.Span_SPAN_KIND_SERVER) {
			t.Errorf("%v", s)
		}
	}
	if r.headers.Get("Content-Type") != "application/x-protobuf" || r.headers.Get("X-Key") != "secret" ||
		r.headers.Get("User-Agent") != "pages/1.2.3" || len(told) > 0 || e.Dropped() != 0 {
		t.Errorf("%v, told %q, %d dropped", r.headers, told, e.Dropped())
	}
}

// A receiver that fails for a while gets everything later; one that refuses, and one that rejects a part, do not.
func TestRetry(t *testing.T) {
	rejection, err := proto.Marshal(&collector.ExportTraceServiceResponse{
		PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const failing = "spans are not sent to URL/v1/traces: "
	const lost = "the spans of 1 requests were not sent to URL/v1/traces"
	for _, c := range []struct {
		name    string
		replies []func(http.ResponseWriter)
		calls   int
		pauses  string
		told    []string
	}{
		{
			"seconds and a date",
			[]func(http.ResponseWriter){
				status(429, "Retry-After", "7"), status(503, "Retry-After", began.Add(9*time.Second).Format(http.TimeFormat)),
				status(503, "Retry-After", "86400"),
			},
			4, "[7s 9s 1m0s]",
			[]string{failing + "429 Too Many Requests", "the receiver of spans at URL/v1/traces answers again"},
		},
		{"a status that is final", []func(http.ResponseWriter){status(400)}, 1, "[]", []string{failing + "400 Bad Request", lost}},
		{
			"a redirect",
			[]func(http.ResponseWriter){status(307, "Location", "/v1/traces")},
			1, "[]",
			[]string{failing + "307 Temporary Redirect", lost},
		},
		{
			"always unavailable", []func(http.ResponseWriter){
				status(503, "Retry-After", "1"), status(503, "Retry-After", "1"), status(503, "Retry-After", "1"),
				status(503, "Retry-After", "1"), status(503, "Retry-After", "1"),
			}, 5, "[1s 1s 1s 1s]", []string{failing + "503 Service Unavailable", lost},
		},
		{"a part is rejected", []func(http.ResponseWriter){func(w http.ResponseWriter) { _, _ = w.Write(rejection) }}, 1, "[]", []string{
			`the receiver of spans at URL/v1/traces rejected 3 of them: "too old"`,
		}},
		{"garbage", []func(http.ResponseWriter){func(w http.ResponseWriter) { _, _ = w.Write([]byte("\x0a\xff\xff")) }}, 1, "[]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pauses []time.Duration
			var told []string
			r := newReceiver(t, c.replies...)
			o := r.options(&pauses, &told)
			e := Open(t.Context(), o)
			b := &batch{}
			b.add(record(t, ""))
			e.send(b)
			e.Close()
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.calls != c.calls || fmt.Sprint(pauses) != c.pauses || fmt.Sprintf("%q", told) != fmt.Sprintf("%q", c.told) {
				t.Errorf("%d calls, pauses %v, told %q", r.calls, pauses, told)
			}
		})
	}
}

// An exporter that closes sends what waits, once, and does not wait for a receiver that does not answer.
func TestClose(t *testing.T) {
	release := make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter) { <-release })
	t.Cleanup(func() { close(release) })
	var pauses []time.Duration
	var told []string
	e := Open(t.Context(), r.options(&pauses, &told))
	e.Add(record(t, ""))
	e.Close()
	if e.Dropped() != 1 || len(told) != 2 || !strings.Contains(told[0], "does not answer") {
		t.Errorf("%d dropped, told %q", e.Dropped(), told)
	}
}

// Requests never wait for a receiver: those over the limit are dropped and counted, and the end reports them once.
func TestQueue(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	r := newReceiver(t, func(w http.ResponseWriter) {
		arrived <- struct{}{}
		<-release
		w.Header().Set("X-Accepted", "yes")
	})
	var pauses []time.Duration
	var told []string
	e := Open(t.Context(), r.options(&pauses, &told))
	rec := record(t, "")
	e.Add(rec)
	<-arrived
	for range queueRoom + 5 {
		e.Add(rec)
	}
	if e.Dropped() != 5 {
		t.Errorf("%d are dropped", e.Dropped())
	}
	close(release)
	testmachine.Await(t, "all requests", func() bool { return r.requests() == queueRoom+1 })
	e.Close()
	if n := r.requests(); n != queueRoom+1 || fmt.Sprint(told) != "[the spans of 5 requests were not sent to URL/v1/traces]" {
		t.Errorf("%d requests, told %q", n, told)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:4318":                "http://127.0.0.1:4318/v1/traces",
		"https://otlp.example.org/a/":          "https://otlp.example.org/a/v1/traces",
		"https://otlp.example.org/a/v1/traces": "https://otlp.example.org/a/v1/traces",
		"http://[::1]:4318/":                   "http://[::1]:4318/v1/traces",
		"127.0.0.1:4318":                       "",
		"grpc://127.0.0.1:4317":                "",
		"http://":                              "",
		"http://me:pass@otlp.example.org":      "",
		"http://otlp.example.org/?key=1":       "",
		"http://otlp.example.org/#a":           "",
		"":                                     "",
	} {
		got, err := ParseURL(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	h, err := ParseHeaders(" authorization=Basic%20abc= , x-team=a,")
	if err != nil || h.Get("Authorization") != "Basic abc=" || h.Get("X-Team") != "a" || len(h) != 2 {
		t.Errorf("%v, %v", h, err)
	}
	for _, text := range []string{"a", "=b", "a b=c", "a=b%0d%0ac:d", "a=%zz"} {
		if h, err := ParseHeaders(text); err == nil {
			t.Errorf("%q: %v", text, h)
		}
	}
}
