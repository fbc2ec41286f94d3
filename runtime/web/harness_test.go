package web_test

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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// entry is the prelude without bindings: env is what the specification says.
const entry = `
import { backtrace, begin, blank, cancel, dispatch, forget, handled, letGo, provide, rejected, socket } from "./js/index.js";
delete globalThis.__host;
entryPoints = {
  start(namespace, spec) { provide((s) => s, spec); begin(namespace); },
  backtrace, blank, cancel, dispatch, forget, handled, letGo, rejected, socket,
};`

// bundle makes the prelude of the sources as they are, so that no test runs
// yesterday's.
func bundle() (string, error) {
	if _, err := os.Stat("node_modules"); err != nil {
		return "", errors.New("the npm packages of the prelude are missing; run `make artifacts`")
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, Stdin: &api.StdinOptions{Contents: entry, ResolveDir: dir},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2023, KeepNames: true,
		Banner: map[string]string{"js": "(()=>{let entryPoints;"}, Footer: map[string]string{"js": "return entryPoints})()"},
	})
	if len(result.Errors) > 0 {
		return "", fmt.Errorf("bundle the prelude: %s at %+v", result.Errors[0].Text, result.Errors[0].Location)
	}
	return string(result.OutputFiles[0].Contents), nil
}

type booted struct {
	engine *engine.Engine
	image  *engine.Image
}

var boot = sync.OnceValues(func() (booted, error) {
	code, err := bundle()
	if err != nil {
		return booted{}, err
	}
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		return booted{}, err
	}
	image, err := e.Boot(ctx, engine.Source{Name: "prelude.js", Code: code}, web.Names())
	return booted{e, image}, err
})

// worker is a Worker that answers HTTP requests.
type worker struct {
	t      testing.TB
	host   *web.Host
	iso    *engine.Isolate
	budget time.Duration
	url    string

	mu       sync.Mutex
	console  []web.ConsoleEntry
	rejected []*engine.Error
	errs     []error // of Serve
}

// start runs the module code; an error is what its evaluation threw.
func start(t testing.TB, code string, o web.Options) (*worker, error) {
	t.Helper()
	b, err := boot()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, budget: 5 * time.Second}
	o.Console = func(_ *engine.Scope, e web.ConsoleEntry) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.console = append(w.console, e)
	}
	w.host = web.New(o)
	w.iso, err = b.engine.NewIsolate(t.Context(), b.image, engine.IsolateOptions{
		Funcs: w.host.Funcs(), Modules: web.Modules(), OnIdle: w.host.Idle,
		OnReset: func(scope *engine.Scope, cause error) { w.host.Reset(w.iso, scope, cause) },
		OnRejection: func(_ *engine.Scope, e *engine.Error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.rejected = append(w.rejected, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.iso.Close(); w.host.Close() })
	s := engine.NewScope(t.Context(), w.budget, nil)
	err = w.iso.Do(s, func(vm *engine.VM) error {
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
	if _, err := w.iso.Snapshot(s); err != nil {
		t.Fatal(err)
	}
	return w, nil
}

// serve runs the Worker behind a real HTTP server.
func serve(t testing.TB, code string, o web.Options) *worker {
	t.Helper()
	w, err := start(t, code, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// ServeHTTP answers with the Worker; a failure is a 500 with the error as text.
func (w *worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x := web.NewExchange(rw, r)
	scope := engine.NewScope(w.t.Context(), w.budget, x)
	err := w.host.Serve(w.iso, scope, x)
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
	var aborted *web.Aborted
	if !errors.As(err, &aborted) && !errors.Is(err, web.ErrClientGone) {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
	}
}

// reply is the head of an answer.
type reply struct {
	Status        string
	StatusCode    int
	Header        http.Header
	ContentLength int64
}

func (w *worker) get(path string) (reply, string) {
	w.t.Helper()
	return w.do(httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, nil))
}

func (w *worker) do(r *http.Request) (reply, string) {
	w.t.Helper()
	r.RequestURI = ""
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Error(err)
		return reply{}, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return reply{resp.Status, resp.StatusCode, resp.Header, resp.ContentLength}, string(b)
}

func (w *worker) lines() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, e := range w.console {
		fmt.Fprintf(&b, "%s: %s\n", e.Level, e.Text)
	}
	return b.String()
}

// snippet is the body of an async function and the JSON of what it returns, or
// "Name: message" of what it throws, or /an expression/ for either.
type snippet struct{ code, want string }

// try runs each snippet in a request of its own.
func try(t *testing.T, o web.Options, snippets []snippet) {
	t.Helper()
	var code strings.Builder
	code.WriteString("const all = [\n")
	for _, s := range snippets {
		fmt.Fprintf(&code, "async (request, env, ctx) => { %s },\n", s.code)
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
	w := serve(t, code.String(), o)
	for i, s := range snippets {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/path?q=1", strings.NewReader(`{"sent":true}`))
		r.Header.Set("X-Snippet", fmt.Sprint(i))
		r.Header.Set("Content-Type", "application/json")
		_, got := w.do(r)
		if got != s.want && !sameJSON(got, s.want) && !matches(s.want, got) {
			t.Errorf("%s\n got %s\nwant %s", s.code, got, s.want)
		}
	}
}

func matches(want, got string) bool {
	expression, ok := strings.CutPrefix(want, "/")
	return ok && regexp.MustCompile(strings.TrimSuffix(expression, "/")).MatchString(got)
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
