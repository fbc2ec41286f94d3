package site

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/runtime/trace"
)

const clientSpan = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestTrace: a request continues the trace of its client, or of the site's own request that made it, and the Worker sees the header as it
// was sent.
func TestTrace(t *testing.T) {
	records := make(chan RequestRecord, 10)
	var f *fixture
	worker := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		trace.Start(r.Context(), "kv_get").End(nil)
		if r.URL.Path == "/club/outer" {
			inner := httptest.NewRequestWithContext(r.Context(), http.MethodGet, "/api/inner", nil)
			inner.Host = "localhost"
			f.site.ServeHTTP(httptest.NewRecorder(), inner)
		}
		_, err := w.Write([]byte(r.Header.Get("Traceparent")))
		return err
	})
	f = start(t, Options{Trace: true, OnRequest: func(r RequestRecord) {
		if r.Source != FromControl {
			records <- r
		}
	}}, Revision{Worker: worker, Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*", "members /club/*")}})
	member := f.as(t, "member")
	if got := f.do(t, member, "GET", "/club/outer", "", "Traceparent: "+clientSpan); got.body != clientSpan {
		t.Errorf("the Worker sees %q", got.body)
	}
	inner, outer := <-records, <-records
	client, _ := trace.ParseParent(clientSpan)
	d, nested := outer.Trace.Document(), inner.Trace.Document()
	if outer.TraceID != client.ID || d.ID != client.ID || d.Caller != client.Span || inner.TraceID != client.ID || nested.Caller != d.Root {
		t.Errorf("outer %+v, inner %+v", d, nested)
	}
	if len(d.Spans) != 2 || d.Spans[0].Name != "gate" || d.Spans[1].Name != "kv_get" || len(nested.Spans) != 1 {
		t.Errorf("%+v, %+v", d.Spans, nested.Spans)
	}
	for _, header := range []string{strings.ToUpper(clientSpan), clientSpan + "-more", ""} {
		if got := f.get(t, "/api/a", "Traceparent: "+header); got.body != header {
			t.Errorf("the Worker sees %q, not %q", got.body, header)
		}
		if r := <-records; r.TraceID == client.ID || r.TraceID.IsZero() || !r.Trace.Document().Caller.IsZero() {
			t.Errorf("%q: %+v", header, r)
		}
	}
	twice := f.get(t, "/api/a", "Traceparent: "+clientSpan, "Traceparent: "+clientSpan)
	if r := <-records; r.TraceID == client.ID || twice.status != http.StatusOK {
		t.Errorf("two headers: %+v", r)
	}
	for _, r := range f.site.requests.newestFirst() {
		if r.Trace != nil || r.TraceID.IsZero() {
			t.Errorf("the list in memory has %+v", r)
		}
	}
}

// Without the option nothing is recorded.
func TestNoTrace(t *testing.T) {
	records := make(chan RequestRecord, 1)
	worker := workerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		trace.Start(r.Context(), "kv_get").End(nil)
		return nil
	})
	f := start(t, Options{OnRequest: func(r RequestRecord) { records <- r }}, Revision{
		Worker: worker, Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*")},
	})
	f.get(t, "/api/a", "Traceparent: "+clientSpan)
	if r := <-records; r.Trace != nil || !r.TraceID.IsZero() {
		t.Errorf("%+v", r)
	}
}

// A form post has the steps that store it, with the reason of a refused row.
func TestTraceOfForm(t *testing.T) {
	records := make(chan RequestRecord, 1)
	options := Options{Trace: true, OnRequest: func(r RequestRecord) { records <- r }}
	b := openInbox(t, options, "CREATE TABLE enquiries (name TEXT CHECK (name <> 'Kim'))")
	for name, failed := range map[string]bool{"Ann": false, "Kim": true} {
		b.post(t, name)
		d := (<-records).Trace.Document()
		if len(d.Spans) != 2 || d.Spans[0].Name != "form_insert" || d.Spans[1].Name != "form_row_insert" ||
			d.Spans[1].Attributes.Text(trace.DBCollection) != "enquiries" || (d.Spans[1].Error != "") != failed {
			t.Errorf("%s: %+v", name, d.Spans)
		}
	}
}
