package engine_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// regions boots an isolate whose prelude has the functions for tests of regions.
func regions(t *testing.T, o engine.IsolateOptions) *engine.Isolate {
	t.Helper()
	const prelude = `globalThis.buffer = null; ({
		look(b) { buffer = b; return [b.byteLength, new Uint8Array(b)[5]] },
		write(at, x) { new Uint8Array(buffer)[at] = x },
		fail(o) { throw o },
		make() { return { its: "own" } },
	})`
	image, err := open(t).Boot(t.Context(), engine.Source{Name: "prelude.js", Code: prelude}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i, err := open(t).NewIsolate(t.Context(), image, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// do runs fn as a turn.
func do(t *testing.T, i *engine.Isolate, fn func(vm *engine.VM) error) {
	t.Helper()
	if err := i.Do(scope(t, 0), fn); err != nil {
		t.Error(err)
	}
}

// TestRegion: JavaScript and Go see the same bytes; a region that grows keeps them, and new bytes are zero.
func TestRegion(t *testing.T) {
	const page = 64 << 10
	i := regions(t, engine.IsolateOptions{})
	do(t, i, func(vm *engine.VM) error {
		r, ok := vm.NewRegion(page)
		other, otherOK := vm.NewRegion(page)
		if !ok || !otherOK || len(r.Bytes()) != page || !isZero(r.Bytes()) {
			t.Fatal("no region of zeros")
		}
		r.Bytes()[5] = 42
		b, err := r.Alias(false)
		if err != nil {
			return err
		}
		seen, err := vm.Call("look", b)
		if err != nil {
			return err
		}
		text, err := vm.Text(seen)
		if err != nil || text != "65536,42" {
			t.Errorf("JavaScript sees %q, %v", text, err)
		}
		if _, err := vm.Call("write", 7, 9); err != nil || r.Bytes()[7] != 9 {
			t.Errorf("Go does not see what JavaScript wrote: %v", err)
		}
		if !r.Resize(3*page) || r.Bytes()[5] != 42 || r.Bytes()[7] != 9 || !isZero(r.Bytes()[page:]) {
			t.Error("a region that grew holds something else")
		}
		if r.Resize(page) || r.Resize(1<<40) || vm.Charged() != 4*page {
			t.Errorf("a wrong size was taken, or is charged: %d", vm.Charged())
		}
		copy(other.Bytes(), bytes.Repeat([]byte{7}, page))
		other.Free()
		r.Free()
		again, ok := vm.NewRegion(2 * page)
		if !ok || !isZero(again.Bytes()) || vm.Charged() != 2*page || len(vm.Regions()) != 1 {
			t.Error("freed memory is not zero when it is used again")
		}
		return nil
	})
}

// TestCharge: heap and charges share one limit.
func TestCharge(t *testing.T) {
	i := regions(t, engine.IsolateOptions{})
	do(t, i, func(vm *engine.VM) error {
		if vm.Charge(engine.DefaultMemoryLimit) {
			t.Error("all of the memory was charged, and nothing is left for the heap")
		}
		if !vm.Charge(100<<20) || vm.Charge(40<<20) {
			t.Error("100 MB fit, and 40 more do not")
		}
		if _, ok := vm.NewRegion(40 << 20); ok {
			t.Error("a region of 40 MB fits no more")
		}
		vm.Charge(-100 << 20)
		if _, ok := vm.NewRegion(40 << 20); !ok || vm.Charged() != 40<<20 {
			t.Error("a region of 40 MB fits again")
		}
		return nil
	})
}

// TestThrown: an exception goes through Go as the same object.
func TestThrown(t *testing.T) {
	i := regions(t, engine.IsolateOptions{})
	do(t, i, func(vm *engine.VM) error {
		o, err := vm.Invoke("make")
		if err != nil {
			return err
		}
		_, err = vm.Invoke("fail", o)
		if _, ok := errors.AsType[*engine.ThrownError](err); !ok || engine.IsBroken(err) {
			t.Errorf("got %v", err)
		}
		_, err = vm.Invoke("nothing")
		if err == nil {
			t.Error("there is no entry point nothing")
		}
		return nil
	})
}

type companion struct{ saved, closed int }

func (c *companion) Save() (any, error) { c.saved++; return c.saved, nil }
func (c *companion) Close()             { c.closed++ }

// TestCompanion: each VM has its own; an image passes on the saved state.
func TestCompanion(t *testing.T) {
	var all []*companion
	var given []any
	i := regions(t, engine.IsolateOptions{Companion: func(_ *engine.VM, saved any) engine.Companion {
		given, all = append(given, saved), append(all, &companion{})
		return all[len(all)-1]
	}})
	if _, err := i.Snapshot(scope(t, 0)); err != nil {
		t.Fatal(err)
	}
	if err := i.Do(scope(t, 0), func(*engine.VM) error { panic(errors.New("over")) }); err == nil {
		t.Fatal("a reset has its cause")
	}
	if len(all) != 2 || all[0].saved != 1 || all[0].closed != 1 || all[1].closed != 0 || given[0] != nil || given[1] != 1 {
		t.Errorf("got %+v, given %v", all, given)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
