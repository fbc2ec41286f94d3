package runtime_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// TestOpenWithoutCache: Workers run without a cache of machine code too, and the reason is reported. A damaged
// entry is made again.
func TestOpenWithoutCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, whole := t.TempDir(), t.TempDir()
	if err := openWith(t, damaged); err != nil {
		t.Fatal(err)
	}
	damage(t, damaged, 1000)
	for name, c := range map[string]struct {
		dir  string
		kept bool
	}{
		"a whole one":     {whole, true},
		"none":            {"", true},
		"a damaged one":   {damaged, true},
		"a file":          {file, false},
		"below a file":    {filepath.Join(file, "cache"), false},
		"a name too long": {filepath.Join(t.TempDir(), string(make([]byte, 300))), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := openWith(t, c.dir); (err == nil) != c.kept {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// damage cuts every file in a folder to a length.
func damage(t *testing.T, dir string, length int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Truncate(path, length)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// openWith opens an engine with a cache folder and returns why the folder is not used. A Worker runs on it.
func openWith(t *testing.T, dir string) error {
	t.Helper()
	r := openCached(t, dir)
	if got := answerOf(t, r, `export default { fetch: () => new Response("runs") }`, nil); got != "runs" {
		t.Errorf("the Worker answers %q", got)
	}
	return r.CacheError()
}

// TestModuleNotKept: a module of a Worker that cannot be kept on disk, as on a full one, is compiled all the same.
func TestModuleNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	r := openCached(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(t, r, withModule, map[string][]byte{"./m.wasm": module42}); got != "42" {
		t.Errorf("the Worker answers %q", got)
	}
}

// TestModuleDamaged: a cached module that is damaged on disk is compiled again, and cached again.
func TestModuleDamaged(t *testing.T) {
	dir := t.TempDir()
	for _, length := range []int64{-1, 0, 20, 200} {
		t.Run(fmt.Sprint(length), func(t *testing.T) { // -1 is whole
			r := openCached(t, dir)
			if length >= 0 {
				damage(t, dir, length)
			}
			for range 2 {
				if got := answerOf(t, r, withModule, map[string][]byte{"./m.wasm": module42}); got != "42" {
					t.Errorf("cut to %d: the Worker answers %q", length, got)
				}
			}
		})
	}
	if err := openWith(t, dir); err != nil {
		t.Error(err)
	}
}

// module42 exports f, which returns 42.
var module42 = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x05\x01\x60\x00\x01\x7f" + "\x03\x02\x01\x00" + "\x07\x05\x01\x01f\x00\x00" + "\x0a\x06\x01\x04\x00\x41\x2a\x0b")

const withModule = `import m from "./m.wasm"; export default { fetch: () => new Response(new WebAssembly.Instance(m).exports.f()) }`

func openCached(t *testing.T, dir string) *pagesruntime.Runtime {
	t.Helper()
	r, err := pagesruntime.Open(t.Context(), pagesruntime.Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// answerOf returns the response body of a Worker.
func answerOf(t *testing.T, r *pagesruntime.Runtime, code string, modules map[string][]byte) string {
	t.Helper()
	w, err := r.NewWorker(t.Context(), pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code), Wasm: modules, Bindings: &binding.Set{}, Limits: pagesruntime.Limits{CPU: 10 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(context.Background())
	answer := httptest.NewRecorder()
	if _, err := w.Serve(answer, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	return answer.Body.String()
}
