package engine

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// needsImagePages skips a test on machines that cannot map memory over an image: the pages of some ARM machines have 16 or 64 kB.
func needsImagePages(t *testing.T) {
	t.Helper()
	if size := os.Getpagesize(); size != imagePage {
		testmachine.Lacks(t, fmt.Sprintf("pages of %d bytes", imagePage), fmt.Errorf("they have %d", size))
	}
}

// TestBacking: memory laid over an image is private to its isolate, and its writes are undone, page by page or all at once.
func TestBacking(t *testing.T) {
	needsImagePages(t)
	const size = (3*maxDirty + 64) * imagePage
	runs := []run{
		{2 * imagePage, bytes.Repeat([]byte("a"), 3*imagePage)},
		{8 * imagePage, bytes.Repeat([]byte("b"), imagePage)},
	}
	b, err := newMemoryFile(size, runs)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size)
	for _, r := range runs {
		copy(want[r.at:], r.b)
	}
	var memories [2][]byte
	for n := range memories {
		if memories[n], err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Munmap(memories[n]) })
		if err := b.mapInto(memories[n]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(memories[0], want) {
		t.Fatal("the memory is not the image")
	}
	for name, places := range map[string][]int{
		"in runs":       {2 * imagePage, 5*imagePage - 1, 8*imagePage + 7},
		"in the holes":  {6 * imagePage, 20 * imagePage},
		"at the end":    {size - 1},
		"everywhere":    every(2*imagePage, size, imagePage),
		"nothing again": nil,
	} {
		for _, at := range places {
			memories[0][at] = 'x'
		}
		if !bytes.Equal(memories[1], want) {
			t.Fatalf("%s: another isolate sees the write", name)
		}
		if err := b.restore(memories[0], 2*imagePage); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(memories[0], want) {
			t.Errorf("%s: the write was not undone", name)
		}
	}
}

// TestBackingWithoutPagemap: if the system does not list the written pages, all are restored.
func TestBackingWithoutPagemap(t *testing.T) {
	needsImagePages(t)
	b, err := newMemoryFile(16*imagePage, []run{{4 * imagePage, bytes.Repeat([]byte("a"), imagePage)}})
	if err != nil {
		t.Fatal(err)
	}
	b.pagemap = nil
	memory, err := unix.Mmap(-1, 0, 16*imagePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	if err := b.mapInto(memory); err != nil {
		t.Fatal(err)
	}
	memory[4*imagePage], memory[9*imagePage] = 'x', 'y'
	if err := b.restore(memory, 0); err != nil {
		t.Fatal(err)
	}
	if memory[4*imagePage] != 'a' || memory[9*imagePage] != 0 {
		t.Errorf("got %q and %q", memory[4*imagePage], memory[9*imagePage])
	}
}

func every(from, to, step int) (places []int) {
	for at := from; at < to; at += step {
		places = append(places, at)
	}
	return places
}

// TestRewindInPlace: an isolate whose memory did not grow keeps its instance.
func TestRewindInPlace(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	image, err := e.Boot(
		t.Context(), Source{Name: "prelude.js", Code: `({ take(n) { globalThis.kept = new Uint8Array(n).fill(1) } })`},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.NewIsolate(t.Context(), image, IsolateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScope(t.Context(), 0, nil)
	defer s.End(nil)
	if _, err := i.Snapshot(s); err != nil {
		t.Fatal(err)
	}
	i.Rewind() // onto the image
	for _, c := range []struct {
		bytes   int
		inPlace bool
	}{{0, true}, {1 << 20, true}, {3 << 20, true}, {3 << 20, true}, {3 << 20, true}, {32 << 20, false}, {1 << 20, true}} {
		var before, after any
		err := i.Do(s, func(vm *VM) error {
			before = vm.mod
			v, err := vm.Call("take", c.bytes)
			vm.Free(v)
			return err
		})
		i.Rewind()
		if err == nil {
			err = i.Do(s, func(vm *VM) error { after = vm.mod; return nil })
		}
		if err != nil || (before == after) != c.inPlace {
			t.Errorf("after %d bytes: put back in place is %v (%v), want %v", c.bytes, before == after, err, c.inPlace)
		}
	}
}
