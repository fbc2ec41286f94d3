package binding_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web"
)

// tracedWorker makes one call after the other, and is still at the last when it responds.
const tracedWorker = `export default { async fetch(request, env, ctx) {
  const origin = request.headers.get("x-origin");
  await env.DB.prepare("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)").run();
  await env.DB.batch([
    env.DB.prepare("INSERT INTO notes (text) VALUES (?)").bind("private"),
    env.DB.prepare("INSERT INTO notes (text) VALUES ('secret words')"),
  ]);
  for (let i = 0; i < 2; i++) await env.DB.prepare("SELECT text FROM notes WHERE id > ?").bind(0).all();
  await env.DB.prepare("SELECT none FROM notes").all().catch(() => {});
  await env.KV.put("greeting", "hello");
  await env.KV.get("greeting");
  await env.KV.list({ prefix: "gr" });
  await env.BUCKET.put("a/b.txt", "text");
  await env.BUCKET.delete("a/b.txt");
  await (await env.ASSETS.fetch("http://site/style.css")).text();
  const cached = "http://site/cached?token=abcdef";
  await caches.default.put(cached, new Response("text", { headers: { "cache-control": "max-age=60" } }));
  await (await caches.default.match(cached)).text();
  await caches.default.delete(cached);
  await env.IMAGES.info(new Blob(["none"]).stream()).catch(() => {});
  await (await fetch(origin + "/moved?token=abcdef&page=2")).text();
  return new Response([...request.headers.keys()].filter((name) => name.startsWith("trace")).join());
} };`

// TestTrace compares the spans of a scripted request with the script, in each engine.
func TestTrace(t *testing.T) {
	var sent []string // headers of ours at the other server
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(strings.ToLower(name), "trace") || strings.HasPrefix(name, "Pages-") {
				sent = append(sent, name)
			}
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/here", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	want := `d1_query CREATE
d1_batch 2
  d1_query INSERT INTO notes (text) VALUES (?) written=1
  d1_query INSERT INTO notes (text) VALUES (?) written=1
d1_query SELECT text FROM notes WHERE id > ? returned=2
d1_query SELECT text FROM notes WHERE id > ? returned=2
d1_query SELECT none FROM notes failed
kv_put greeting
kv_get greeting
kv_list gr
r2_put a/b.txt
r2_delete a/b.txt
assets_fetch http://site/style.css 200
cache_put http://site/cached?token=******
cache_match http://site/cached?token=******
cache_delete http://site/cached?token=******
images_info failed
fetch http://127.0.0.1:` + port + `/moved?token=******&page=2 302
fetch http://127.0.0.1:` + port + `/here 200 resend=1`
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		sent = nil
		want := want
		if e.InWorkerd() { // it follows redirects itself
			want = strings.TrimSuffix(want, " resend=1")
		}
		set := bindings(t)
		db := d1.New(database(t), d1.Options{})
		t.Cleanup(func() { db.Close() })
		namespace, err := kv.New(database(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		set.D1, set.KV = map[string]*d1.Database{"DB": db}, map[string]*kv.Namespace{"KV": namespace}
		w := e.MustStart(t, pagesruntime.WorkerOptions{
			Name: "worker.js", Code: []byte(tracedWorker), Bindings: set,
			Console: func(l pagesruntime.Line) { t.Log(l.Text) }, Web: web.Options{AllowFetch: []string{host}},
		})
		recorder := &trace.Recorder{}
		recorder.Begin(time.Now(), time.Now, trace.Parent{})
		ctx := trace.With(context.WithoutCancel(t.Context()), recorder)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://site.localhost/", nil)
		r.Header.Set("X-Origin", server.URL)
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, r); err != nil || rec.Code != http.StatusOK {
			t.Fatal(err, rec.Code)
		}
		if body, _ := io.ReadAll(rec.Body); string(body) != "" || len(sent) > 0 {
			t.Errorf("the Worker sees the header %q, and the other server %q", body, sent)
		}
		d := recorder.Seal().Document()
		if got := spanLines(d); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for i, s := range d.Spans {
			if s.Unfinished || s.Millis < 0 || i > 0 && s.StartMs < d.Spans[i-1].StartMs {
				t.Errorf("%+v", s)
			}
		}
	})
}

// spanLines has a line for each span of a document.
func spanLines(d trace.Document) string {
	var lines []string
	for _, s := range d.Spans {
		if s.Name == "worker_start" {
			continue
		}
		a, line := s.Attributes, s.Name
		if s.Parent != d.Root {
			line = "  " + line
		}
		text := a.Text(trace.QueryText)
		if strings.HasPrefix(text, "CREATE") {
			text = a.Text(trace.DBOperation)
		}
		for _, key := range []string{trace.KVKeys, trace.KVPrefix, trace.R2Key, trace.FullURL} {
			text += a.Text(key)
		}
		if text != "" {
			line += " " + text
		}
		for _, n := range []struct{ key, format string }{
			{trace.DBBatchSize, " %d"},
			{trace.RowsReturned, " returned=%d"},
			{trace.RowsWritten, " written=%d"},
			{trace.StatusCode, " %d"},
			{trace.ResendCount, " resend=%d"},
		} {
			if v, ok := a.Int(n.key); ok && (v > 0 || n.key == trace.StatusCode) && a.Text(trace.DBOperation) != "CREATE" {
				line += fmt.Sprintf(n.format, v)
			}
		}
		if s.Error != "" {
			line += " failed"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
