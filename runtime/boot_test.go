package runtime

import (
	"bytes"
	"context"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestBoot: an image of another prelude is not used.
func TestBoot(t *testing.T) {
	e, err := engine.Open(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	other := engine.Source{Name: preludeName, Code: `({ answer: () => 42 })`}
	image, err := boot(t.Context(), e, other)
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = i.Do(engine.NewScope(t.Context(), 0, nil), func(vm *engine.VM) error {
		_, err := vm.Call("answer")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBootImageIsReproducible: the image is part of the binary, whose builds are reproducible.
func TestBootImageIsReproducible(t *testing.T) {
	first, err := BootImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := BootImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		at := 0
		for at < len(first) && at < len(second) && first[at] == second[at] {
			at++
		}
		t.Errorf("two images of %d and %d bytes differ from byte %d on", len(first), len(second), at)
	}
}
