package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// bindings are real ones, in a temporary folder.
func bindings(t testing.TB) *binding.Set {
	t.Helper()
	database := func() *sql.DB {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "site.db")+
			"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=foreign_keys(1)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	namespace, err := kv.New(database(), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	objects := database()
	objects.SetMaxOpenConns(1)
	bucket, err := r2.New(t.Context(), objects, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := d1.New(database(), d1.Options{})
	t.Cleanup(func() { db.Close() })
	return &binding.Set{
		KV: map[string]*kv.Namespace{"KV": namespace}, R2: map[string]*r2.Bucket{"BUCKET": bucket},
		D1: map[string]*d1.Database{"DB": db}, Images: map[string]*images.Binding{"IMAGES": images.New(images.Options{})},
		Assets:  map[string]http.Handler{"ASSETS": http.HandlerFunc(files)},
		Secrets: map[string]string{"SECRET": "a \"quoted\" ü☃ \\ value\nof two lines", "OTHER": ""},
	}
}

// files are the files of a small site.
func files(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/style.css":
		w.Header().Set("Content-Type", "text/css")
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Cache-Control", "public, max-age=0")
		_, _ = io.WriteString(w, "a { color: red }")
	case "/echo":
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Host, r.RequestURI, r.Header.Get("X-One"))
	case "/headers":
		for name := range r.Header {
			if strings.HasPrefix(name, "Pages-") {
				fmt.Fprintln(w, "the handler sees", name)
			}
		}
		fmt.Fprintln(w, r.Header.Get("X-One"))
	case "/moved":
		http.Redirect(w, r, "/style.css", http.StatusFound)
	case "/large":
		_, _ = w.Write(make([]byte, 1<<20))
	default:
		http.Error(w, "nothing is here", http.StatusNotFound)
	}
}

// inIsolate returns how the built-in engine answers with a Worker that has these bindings.
func inIsolate(t testing.TB, code []byte, set *binding.Set) (ask func(target string) string) {
	t.Helper()
	w := enginetest.BuiltIn(t).MustStart(t, pagesruntime.WorkerOptions{Name: "worker.js", Code: code, Bindings: set})
	return func(target string) string {
		rec := httptest.NewRecorder()
		if _, err := w.Serve(rec, httptest.NewRequest(http.MethodGet, "http://site.localhost"+target, nil)); err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
}

// serve starts the wire.
func serve(t testing.TB, o wire.Options) *wire.Server {
	t.Helper()
	s, err := wire.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// inWorkerd returns how workerd answers with a Worker whose bindings are those of the wire.
func inWorkerd(t testing.TB, code []byte, s *wire.Server) (ask func(target string) string) {
	t.Helper()
	program := enginetest.Program(t).Path
	dir, err := os.MkdirTemp("", "wire") //nolint:usetesting // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	services, bound := s.Workerd()
	worker := "bindings = [" + bound
	if strings.Contains(services, `"wire:site"`) {
		worker += `(name = "SITE", service = "wire:site")`
	}
	worker += "]"
	if strings.Contains(services, `"wire:outbound"`) {
		worker += `, globalOutbound = "wire:outbound"`
	}
	if strings.Contains(services, `"wire:cache"`) {
		worker += `, cacheApiOutbound = "wire:cache"`
	}
	socket := filepath.Join(dir, "front")
	config := `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-10-01", compatibilityFlags = ["global_fetch_strictly_public"],
      ` + worker + `)),
` + services + `  ],
  sockets = [(name = "front", address = "unix:` + socket + `", http = (), service = "main")]
);`
	for name, content := range map[string][]byte{"worker.js": code, "config.capnp": []byte(config)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out testmachine.Buffer
	run := exec.CommandContext(t.Context(), program, "serve", "config.capnp")
	run.Dir, run.Stdout, run.Stderr = dir, &out, &out
	run.WaitDelay = time.Second
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = run.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = run.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("workerd said:\n%s", &out)
		}
	})
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	ask = func(target string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://site.localhost"+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			return "failed: " + err.Error()
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			return "failed: " + err.Error()
		}
		return string(content)
	}
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
		if err == nil {
			conn.Close()
			return ask
		}
		select {
		case <-ended:
			t.Fatalf("workerd ended:\n%s", &out)
		case <-time.After(5 * time.Millisecond):
		}
		if errors.Is(t.Context().Err(), context.Canceled) {
			t.Fatal("workerd does not listen")
		}
	}
}
