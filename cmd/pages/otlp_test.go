package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const otlpWorker = `export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/api/inner") return new Response(await env.KV.get("a"));
    const insert = env.DB.prepare("INSERT INTO notes (text) VALUES (?)");
    await env.DB.batch([insert.bind("words of mine"), insert.bind("more")]);
    const { results } = await env.DB.prepare("SELECT text FROM notes").all();
    await env.KV.put("a", String(results.length));
    return fetch(new URL("/api/inner", url));
  },
};
`

// TestOTLP: the spans of a request, as a receiver of OpenTelemetry decodes them, are the calls of the Worker, in the trace of the client.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	var got []*spans.Span
	service := ""
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Basic abc" {
			t.Errorf("%s, %v, %v", r.URL, r.Header, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.GetResourceSpans() {
			service = resource.GetResource().GetAttributes()[0].GetValue().GetStringValue()
			for _, scope := range resource.GetScopeSpans() {
				got = append(got, scope.GetSpans()...)
			}
		}
	}))
	defer receiver.Close()
	dir := filepath.Join(t.TempDir(), "notes")
	for name, text := range map[string]string{
		"pages.deploy.json": `{"entry": "worker.js", "routes": [{"pattern": "/api/*"}],
			"runtime": {"compatibilityFlags": ["global_fetch_strictly_public"]},
			"bindings": {"database": {"migrations": "migrations"}, "kv": {}}}`,
		"migrations/0001_notes.sql": "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);\n",
		"worker.js":                 otlpWorker,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PAGES_OTLP_HEADERS", "authorization=Basic%20abc")
	d := startDev(t, dir, "--otlp", receiver.URL)
	d.expect(d.get("/api/outer?token=abcdef", "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), http.StatusOK, "2")
	d.stop() // which sends the rest
	mu.Lock()
	defer mu.Unlock()
	const want = `GET /api/* server /api/outer
  d1_batch client
    d1_query client INSERT INTO notes (text) VALUES (?)
    d1_query client INSERT INTO notes (text) VALUES (?)
  d1_query client SELECT text FROM notes
  kv_put client
  fetch client
  GET /api/* server /api/inner
    kv_get client
`
	if text := spanTree(got, "00f067aa0ba902b7", ""); text != want || service != "notes" {
		t.Errorf("%s\ngot\n%s\nwant\n%s%s", service, text, want, d.stderr)
	}
	for _, s := range got {
		if fmt.Sprintf("%x", s.GetTraceId()) != "4bf92f3577b34da6a3ce929d0e0e4736" || strings.Contains(s.String(), "words of mine") ||
			strings.Contains(s.String(), "abcdef") {
			t.Errorf("%v", s)
		}
	}
}

// spanTree writes the spans within a span, in the order of their starts.
func spanTree(all []*spans.Span, parent, indent string) string {
	var b strings.Builder
	sort.SliceStable(all, func(i, k int) bool { return all[i].GetStartTimeUnixNano() < all[k].GetStartTimeUnixNano() })
	for _, s := range all {
		if fmt.Sprintf("%x", s.GetParentSpanId()) != parent || s.GetName() == "worker_start" { // there may be an isolate
			continue
		}
		fmt.Fprintf(&b, "%s%s %s", indent, s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")))
		for _, a := range s.GetAttributes() {
			if key := a.GetKey(); key == "url.path" || key == "db.query.text" {
				b.WriteString(" " + a.GetValue().GetStringValue())
			}
		}
		b.WriteString("\n" + spanTree(all, fmt.Sprintf("%x", s.GetSpanId()), indent+"  "))
	}
	return b.String()
}
