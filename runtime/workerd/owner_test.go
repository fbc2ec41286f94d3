package workerd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// ownersCode makes requests with constructors, and leaves work with the waitUntil of the module.
const ownersCode = `
import { waitUntil } from "cloudflare:workers";
const held = new Set();
const cases = {
  // of this request, which goes on until /go names it
  // workerd ends a request that waits only for another one: this one has a timer
  "/hold": async () => {
    let open = true;
    held.add(() => { open = false; });
    while (open) await scheduler.wait(10);
    return new Response("held");
  },
  "/go": () => {
    for (const resolve of held) resolve();
    held.clear();
    return new Response("gone");
  },
  "/make": async (url) => {
    const [kind, to] = [url.searchParams.get("kind"), url.searchParams.get("to")];
    const made = kind === "fetch" ? null : new globalThis[kind](kind === "WebSocket" ? to.replace("http", "ws") : to);
    if (made === null) await fetch(to);
    else await new Promise((resolve) => ["open", "error"].forEach((name) => made.addEventListener(name, resolve)));
    const shown = [made?.url, made instanceof globalThis[kind], made?.constructor === globalThis[kind], globalThis[kind].name].join();
    made?.close();
    return new Response(shown);
  },
  // it answers when its body has ended: all that it wrote before can be read until then
  "/wait": async (url, request) => {
    const { promise, resolve } = Promise.withResolvers();
    waitUntil((async () => {
      await promise;
      await scheduler.wait(Number(url.searchParams.get("ms")));
      for (const end = Date.now() + Number(url.searchParams.get("spin") ?? 0); Date.now() < end; );
      console.log("waited " + url.searchParams.get("ms"));
    })());
    console.log("left " + url.searchParams.get("ms"));
    await request.text();
    resolve();
    return new Response("answered");
  },
  "/reject": () => {
    waitUntil(Promise.reject(new RangeError("not in time")));
    return new Response("answered");
  },
  "/none": () => {
    try {
      return new Response(String(waitUntil()));
    } catch (error) {
      return new Response(error.name);
    }
  },
};
export default { fetch: (request) => { const url = new URL(request.url); return cases[url.pathname](url, request); } };
`

func owners(c *console) pagesruntime.WorkerOptions {
	o := options(c)
	o.Code = []byte(ownersCode)
	o.Limits.SubRequests = 5
	return o
}

// TestConstructorsCount: the requests of new WebSocket and new EventSource count for the request that makes them, also while others run;
// the server and the author see the original URL.
func TestConstructorsCount(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.RequestURI+r.Header.Get("Pages-Request"))
		mu.Unlock()
		if strings.HasSuffix(r.Header.Get("Accept"), "event-stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: x\n\n")
			return
		}
		http.Error(w, "no socket", http.StatusForbidden)
	}))
	t.Cleanup(remote.Close)
	var c console
	o := owners(&c)
	o.Web.AllowFetch = []string{"127.0.0.1"}
	w := start(t, o)
	held := make(chan pagesruntime.Usage, 2)
	for range cap(held) {
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://site.localhost/hold", nil)
			usage, err := w.Serve(httptest.NewRecorder(), r)
			if err != nil {
				t.Errorf("a request that is held: %v", err)
			}
			held <- usage
		}()
	}
	testmachine.Await(t, "two requests under way", func() bool { return w.Users() == cap(held) })
	for _, test := range []struct{ kind, given, sent, shown string }{
		{"fetch", "/a?b=1", "/a?b=1", ",false,false,"},
		{"WebSocket", "/b", "/b", "ws"},
		{"WebSocket", "/b?c=1&pages-request=mine", "/b?c=1&pages-request=mine", "ws"},
		{"EventSource", "/d?e=%20#f", "/d?e=%20", "http"},
	} {
		t.Run(test.kind+test.given, func(t *testing.T) {
			mu.Lock()
			asked = nil
			mu.Unlock()
			rec, usage, err := ask(t, w, "/make?kind="+test.kind+"&to="+escaped(remote.URL+test.given))
			if err != nil || usage.SubRequests != 1 {
				t.Errorf("%d outbound requests, %v; want 1", usage.SubRequests, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if got := fmt.Sprint(asked); got != "["+test.sent+"]" {
				t.Errorf("the server was asked for %s, want %s", got, test.sent)
			}
			if test.kind == "fetch" {
				return
			}
			want := strings.Replace(remote.URL, "http", test.shown, 1) + test.given + ",true,true," + test.kind
			if rec.Body.String() != want {
				t.Errorf("the author sees %s, want %s", rec.Body, want)
			}
		})
	}
	if _, _, err := ask(t, w, "/go"); err != nil {
		t.Error(err)
	}
	for range cap(held) {
		if usage := <-held; usage.SubRequests != 0 {
			t.Errorf("a request that made none counts %d", usage.SubRequests)
		}
	}
}

func escaped(text string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "?", "%3F", "+", "%2B").Replace(text)
}

// TestModuleWaitUntil: a promise passed to the waitUntil of cloudflare:workers keeps its request alive on both engines, its rejection is
// logged, and its CPU time counts.
func TestModuleWaitUntil(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"workerd", "built-in"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var c console
			o := owners(&c)
			o.Limits.CPU = 300 * time.Millisecond
			var w engine
			if kind == "workerd" {
				w = start(t, o)
			} else {
				w = builtIn(t, o)
			}
			get := func(target, want string) {
				t.Helper()
				rec := httptest.NewRecorder()
				_, err := w.Serve(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://site.localhost"+target, nil))
				if err != nil || rec.Body.String() != want {
					t.Errorf("%s: %q, %v", target, rec.Body, err)
				}
			}
			get("/reject", "answered")
			if l := c.await(t, "waitUntil:"); !strings.Contains(l.Text, "RangeError: not in time") || l.Request == nil {
				t.Errorf("logged %q for %v", l.Text, l.Request)
			}
			get("/none", "TypeError")
			leave := func(ms, more string) {
				t.Helper()
				read, write := io.Pipe()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://site.localhost/wait?ms="+ms+more, read)
				rec, answered := httptest.NewRecorder(), make(chan error)
				go func() {
					_, err := w.Serve(rec, r)
					answered <- err
				}()
				c.await(t, "left "+ms)
				_ = write.Close()
				if err := <-answered; err != nil || rec.Body.String() != "answered" {
					t.Errorf("/wait?ms=%s: %q, %v", ms+more, rec.Body, err)
				}
			}
			leave("20", "")
			if l := c.await(t, "waited 20"); l.Request == nil || l.Request.URL.Path != "/wait" {
				t.Errorf("logged for %v", l.Request)
			}
			leave("30", "&spin=60000")
			if l := c.await(t, "after the response, in waitUntil: "); l.Request == nil || l.Request.URL.RawQuery != "ms=30&spin=60000" {
				t.Errorf("logged %q for %v", l.Text, l.Request)
			}
		})
	}
	t.Run("a Worker that is replaced", func(t *testing.T) {
		t.Parallel()
		var c console
		w := start(t, owners(&c))
		if _, _, err := ask(t, w, "/wait?ms=400"); err != nil {
			t.Fatal(err)
		}
		w.Close(t.Context())
		c.await(t, "waited 400")
	})
}
