package engine_test

import (
	"fmt"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestImageIsStored(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	if _, err := run(i, scope(t, 0), `globalThis.kept = new Map([["k", "v".repeat(1e5)]]); 0`); err != nil {
		t.Fatal(err)
	}
	image, err := i.Snapshot(scope(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := image.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read engine.Image
	if err := read.UnmarshalBinary(stored); err != nil {
		t.Fatal(err)
	}
	j, err := open(t).NewIsolate(t.Context(), &read, engine.IsolateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	if got, err := run(j, scope(t, 0), `kept.get("k").length`); err != nil || got != "100000" {
		t.Errorf("got %s, %v", got, err)
	}
	for _, size := range []int{0, 1, 100, len(stored) / 2, len(stored) - 1} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			if err := new(engine.Image).UnmarshalBinary(stored[:size]); err == nil {
				t.Errorf("the first %d of %d bytes are taken for an image", size, len(stored))
			}
		})
	}
}
