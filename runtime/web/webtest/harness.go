// Package webtest runs JavaScript as a Worker does, for tests of the web platform.
//
// In: a module's code, or [Snippet]s of it, and the options of its host. Out: a [Worker] on a real HTTP server, and its console output. A
// failure ends or fails the calling test. A Worker is safe for concurrent use. No product code imports the package: it bundles the prelude
// from the current sources.
package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/console"
	"github.com/pages-toolchain/pages/runtime/web/streams"
)

// entry is the prelude without bindings: env is the one of the specification.
const entry = `
import { backtrace, begin, blank, cancel, dispatch, finalize, forget, handled, letGo, letGoAll, provide, rejected, socket } from "./js/index.js";
delete globalThis.__host;
entryPoints = {
  start(namespace, spec) { provide((s) => s, spec); begin(namespace); },
  backtrace, blank, cancel, dispatch, finalize, forget, handled, letGo, letGoAll, rejected, socket,
};`

// bundle builds the prelude from the current sources, so that no test runs an old one. Tests run in a folder below or next to that of
// package web.
func bundle() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the tests do not run in the module's folder")
		}
	}
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "runtime", "web")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return "", errors.New("the npm packages of the prelude are missing; run `make artifacts`")
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, Stdin: &api.StdinOptions{Contents: entry, ResolveDir: dir},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2023, KeepNames: true,
		Plugins: []api.Plugin{streams.Polyfill()},
		Banner:  map[string]string{"js": "(()=>{let entryPoints;"}, Footer: map[string]string{"js": "return entryPoints})()"},
	})
	if len(result.Errors) > 0 {
		return "", fmt.Errorf("bundle the prelude: %s at %+v", result.Errors[0].Text, result.Errors[0].Location)
	}
	return string(result.OutputFiles[0].Contents), nil
}

// Booted is an engine and the image of the prelude.
type Booted struct {
	Engine *engine.Engine
	Image  *engine.Image
}

// Boot evaluates the prelude, once for all tests.
var Boot = sync.OnceValues(func() (Booted, error) {
	code, err := bundle()
	if err != nil {
		return Booted{}, err
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		return Booted{}, err
	}
	image, err := e.Boot(ctx, engine.Source{Name: "prelude.js", Code: code}, web.Names())
	return Booted{e, image}, err
})

// Worker is a Worker that answers HTTP requests.
type Worker struct {
	Host    *web.Host
	Isolate *engine.Isolate
	// Budget is the CPU time of a request.
	Budget time.Duration
	// URL is that of the server; empty for a Worker that Start started.
	URL string

	t testing.TB

	mu       sync.Mutex
	console  []console.Entry
	rejected []*engine.Error
	errs     []error // of Serve
}

// Start runs the module code; an error is the exception of its evaluation.
func Start(t testing.TB, code string, o web.Options) (*Worker, error) {
	t.Helper()
	b, err := Boot()
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{t: t, Budget: 20 * time.Second}
	o.Console = func(_ *engine.Scope, e console.Entry) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.console = append(w.console, e)
	}
	w.Host = web.New(o)
	w.Isolate, err = b.Engine.NewIsolate(t.Context(), b.Image, engine.IsolateOptions{
		Funcs: w.Host.Funcs(), Modules: web.Modules(), OnIdle: w.Host.Idle,
		OnReset: func(scope *engine.Scope, cause error) { w.Host.Reset(w.Isolate, scope, cause) },
		FinalizerScope: func() (*engine.Scope, func()) {
			s := engine.NewScope(context.WithoutCancel(t.Context()), w.Budget, nil)
			return s, func() { s.End(nil) }
		},
		OnRejection: func(_ *engine.Scope, e *engine.Error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.rejected = append(w.rejected, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Isolate.Close(); w.Host.Close() })
	s := engine.NewScope(t.Context(), w.Budget, nil)
	err = w.Isolate.Do(s, func(vm *engine.VM) error {
		namespace, err := vm.Import(engine.Source{Name: "worker.js", Code: code})
		if err != nil {
			return err
		}
		v, err := vm.Call("start", namespace, `{"GREETING":"hello"}`)
		if err == nil {
			vm.Free(v)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := w.Isolate.Snapshot(s); err != nil {
		t.Fatal(err)
	}
	return w, nil
}

// Serve runs the Worker on a real HTTP server.
func Serve(t testing.TB, code string, o web.Options) *Worker {
	t.Helper()
	w, err := Start(t, code, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

// ServeHTTP answers with the Worker; a failure is a 500 with the error as text.
func (w *Worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x := web.NewExchange(rw, r)
	scope := engine.NewScope(w.t.Context(), w.Budget, x)
	err := w.Host.Serve(w.Isolate, scope, x)
	go func() {
		<-x.Done()
		scope.End(nil)
	}()
	if err == nil {
		return
	}
	w.mu.Lock()
	w.errs = append(w.errs, err)
	w.mu.Unlock()
	if _, aborted := errors.AsType[*web.Aborted](err); !aborted && !errors.Is(err, web.ErrClientGone) {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
	}
}

// Reply is the head of a response.
type Reply struct {
	Status        string
	StatusCode    int
	Header        http.Header
	ContentLength int64
}

// Get requests a path.
func (w *Worker) Get(path string) (Reply, string) {
	w.t.Helper()
	return w.Do(httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, w.URL+path, nil))
}

// Do sends a request to the Worker's server.
func (w *Worker) Do(r *http.Request) (Reply, string) {
	w.t.Helper()
	r.RequestURI = ""
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Error(err)
		return Reply{}, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return Reply{resp.Status, resp.StatusCode, resp.Header, resp.ContentLength}, string(b)
}

// Lines is the console so far, as "level: text" lines.
func (w *Worker) Lines() string {
	var b strings.Builder
	for _, e := range w.Console() {
		fmt.Fprintf(&b, "%s: %s\n", e.Level, e.Text)
	}
	return b.String()
}

// Console is the lines so far.
func (w *Worker) Console() []console.Entry { return copyOf(w, &w.console) }

// Errors returns the errors of the host's Serve so far.
func (w *Worker) Errors() []error { return copyOf(w, &w.errs) }

// Rejected is the promises so far that were rejected without a handler.
func (w *Worker) Rejected() []*engine.Error { return copyOf(w, &w.rejected) }

func copyOf[T any](w *Worker, list *[]T) []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(*list)
}

// WaitFor waits for a line of the console.
func (w *Worker) WaitFor(line string) {
	w.t.Helper()
	limit := time.After(10 * time.Second)
	for !strings.Contains(w.Lines(), line) {
		select {
		case <-limit:
			w.t.Errorf("%q does not come; the console has %q", line, w.Lines())
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Handler is a module whose fetch has this body.
func Handler(body string) string {
	return `export default { async fetch(request, env, ctx) { ` + body + ` } };`
}

// Snippet is the name of a subtest, the body of an async function, and the result: its JSON, "Name:
// message" of an error, or a /regular expression/ for either.
type Snippet [3]string

// ReadSnippets reads snippets from a file, which begins with code that each of them begins with. Then come, for each, a line of
// "### " and its name, its code, and its result after "=> ".
func ReadSnippets(t testing.TB, path string) (list []Snippet) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	common, rest, _ := strings.Cut(string(text), "\n### ")
	for block := range strings.SplitSeq(rest, "\n### ") {
		name, block, _ := strings.Cut(block, "\n")
		code, want, ok := strings.Cut(block, "\n=> ")
		if !ok {
			t.Fatalf("%s: %q has no result", path, name)
		}
		list = append(list, Snippet{name, common + "\n" + code, strings.TrimSpace(want)})
	}
	return list
}

// Fits reports whether the result of a snippet matches the expected result.
func Fits(got, want string) bool {
	if expression, ok := strings.CutPrefix(want, "/"); ok {
		return regexp.MustCompile(strings.TrimSuffix(expression, "/")).MatchString(got)
	}
	return got == want || sameJSON(got, want)
}

// Try runs each snippet in a request of its own, as a subtest of its name.
func Try(t *testing.T, o web.Options, snippets []Snippet) {
	t.Helper()
	var code strings.Builder
	code.WriteString("const all = [\n")
	for _, s := range snippets {
		fmt.Fprintf(&code, "async (request, env, ctx) => { %s },\n", s[1])
	}
	code.WriteString(`];
export default { async fetch(request, env, ctx) {
  try {
    const value = await all[Number(request.headers.get("x-snippet"))](request, env, ctx);
    return new Response(value === undefined ? "undefined" : JSON.stringify(value));
  } catch (e) {
    return new Response(e + "");
  }
} };`)
	w := Serve(t, code.String(), o)
	for i, s := range snippets {
		name, code, want := s[0], s[1], s[2]
		if name == "" {
			t.Fatalf("a snippet has no name:\n%s", code)
		}
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/path?q=1", strings.NewReader(`{"sent":true}`))
			r.Header.Set("X-Snippet", fmt.Sprint(i))
			r.Header.Set("Content-Type", "application/json")
			_, got := w.Do(r)
			if !Fits(got, want) {
				t.Errorf("%s\n got %s\nwant %s", code, got, want)
			}
		})
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// Eventually polls until ok returns true, far longer than a passing test needs.
func Eventually(t *testing.T, ok func() bool) bool {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok() {
			return true
		}
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
}

// Gate is a server that answers once it is opened.
func Gate(t *testing.T) (host string, open func()) {
	t.Helper()
	opened := make(chan struct{})
	open = sync.OnceFunc(func() { close(opened) })
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-opened:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { open(); server.Close() })
	return strings.TrimPrefix(server.URL, "http://"), open
}
