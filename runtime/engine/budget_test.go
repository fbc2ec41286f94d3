package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestBudgetIsOverTurns(t *testing.T) {
	const budget = 60 * time.Millisecond
	i := start(t, engine.IsolateOptions{})
	s := scope(t, budget)
	var err error
	turns := 0
	for ; err == nil && turns < 1000; turns++ {
		used := s.CPU() // a turn may end as the budget does: the next one is ended then
		if _, err = run(i, s, `for (let n = 0; n < 1e5; n++) {} 0`); err == nil && used >= budget {
			t.Fatalf("turn %d began after %v, and ran", turns, used)
		}
	}
	var killed *engine.KilledError
	if !errors.As(err, &killed) || turns < 3 || s.CPU() < budget {
		t.Errorf("after %d turns and %v: %v", turns, s.CPU(), err)
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	for name, code := range map[string]string{
		"loop":       `for (;;) {}`,
		"native":     `Array.prototype.reverse.call({length: 1e9})`,
		"microtasks": `(function f() { Promise.resolve().then(f) })(); 0`,
	} {
		i := start(t, engine.IsolateOptions{})
		ended := make(chan error, 1)
		go func() { _, err := run(i, scope(t, 0), code); ended <- err }()
		i.Close()
		if err := receive(t, ended); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestEngineCloseEndsItsIsolates: code and memory go only once nothing runs.
func TestEngineCloseEndsItsIsolates(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := e.Boot(t.Context(), prelude, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 4)
	for range cap(ended) {
		i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, err := run(i, scope(t, 0), `for (;;) {}`); ended <- err }()
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range cap(ended) {
		if err := receive(t, ended); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("an isolate of a closed engine: %v", err)
	}
}
