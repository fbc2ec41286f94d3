// Package enginetest runs tests of Workers in each engine that a site may have.
//
// Input: the test of a table. Output: a subtest for each engine, in which Workers of that engine start. Without workerd its
// subtest is skipped, or fails in CI. An engine is safe for concurrent use. For tests only.
package enginetest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// Worker is a Worker of either engine.
type Worker interface {
	// Serve answers a request. An error is a *runtime.Error, and means that nothing was written.
	Serve(w http.ResponseWriter, r *http.Request) (pagesruntime.Usage, error)
	// Close waits for current requests until ctx ends, then frees all resources of the Worker.
	Close(ctx context.Context)
}

// Engine starts Workers.
type Engine struct {
	builtIn *pagesruntime.Runtime // nil for workerd
	program workerd.Program
}

// InWorkerd reports whether V8 runs the Workers.
func (e *Engine) InWorkerd() bool { return e.builtIn == nil }

// Start starts a Worker. The test closes it.
func (e *Engine) Start(t testing.TB, o pagesruntime.WorkerOptions) (Worker, error) {
	t.Helper()
	var (
		w   Worker
		err error
	)
	if e.builtIn != nil {
		w, err = e.builtIn.NewWorker(t.Context(), o)
	} else {
		w, err = e.program.NewWorker(t.Context(), o)
	}
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		w.Close(ctx)
	})
	return w, nil
}

// MustStart is Start for valid code.
func (e *Engine) MustStart(t testing.TB, o pagesruntime.WorkerOptions) Worker {
	t.Helper()
	w, err := e.Start(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// BuiltIn opens the built-in engine. The test closes it.
func BuiltIn(t testing.TB) *Engine {
	t.Helper()
	rt, err := pagesruntime.Open(t.Context(), pagesruntime.Options{})
	if err != nil {
		t.Fatalf("%v (run: make artifacts)", err)
	}
	t.Cleanup(func() {
		if err := rt.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return &Engine{builtIn: rt}
}

// Workerd returns workerd, or ends a test on a machine without it.
func Workerd(t testing.TB) *Engine {
	t.Helper()
	return &Engine{program: Program(t)}
}

// Each runs a test in each engine.
func Each(t *testing.T, test func(t *testing.T, e *Engine)) {
	t.Helper()
	t.Run("built-in", func(t *testing.T) { test(t, BuiltIn(t)) })
	t.Run("workerd", func(t *testing.T) { test(t, Workerd(t)) })
}

// Program is the workerd of the tests: that of PAGES_WORKERD, or of testdata/sites/workerd. It ends a test on a machine without it.
func Program(t testing.TB) workerd.Program {
	t.Helper()
	if path := os.Getenv(workerd.Variable); path != "" {
		return workerd.Program{Path: path}
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join(root, "testdata", "sites", "workerd", "node_modules")
	found, _ := filepath.Glob(filepath.Join(packages, "@cloudflare", "workerd-*", "bin", "workerd*"))
	if len(found) == 0 {
		testmachine.Lacks(t, "workerd for "+runtime.GOOS+": make site", os.ErrNotExist)
	}
	return workerd.Program{Path: found[0]}
}

// moduleRoot is the folder of go.mod, above that of a test.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("no folder above the test has a go.mod")
		}
		dir = above
	}
	return "", err
}
