package quickjs_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine/quickjs"
)

// host has memory of up to most bytes. The module calls nothing else of it in these tests.
type host struct {
	quickjs.Host
	memory []byte
	most   uint64
}

func (h *host) Grow(size uint64) []byte {
	if size > h.most {
		return nil
	}
	return h.memory[:size]
}

// instance returns a module on most bytes of memory.
func instance(t *testing.T, most uint64) (*quickjs.Translation, quickjs.Module, []byte) {
	t.Helper()
	translated := quickjs.Translated()
	if translated == nil {
		testmachine.Lacks(t, "the translation of quickjs.wasm", os.ErrNotExist)
	}
	h := &host{memory: make([]byte, most), most: most}
	m := translated.New(h, h.memory[:translated.Memory])
	m.Load()
	return translated, m, h.memory
}

// TestSource: the translation is of the module that lies beside it.
func TestSource(t *testing.T) {
	translated, _, _ := instance(t, 64<<20)
	wasm, err := os.ReadFile(filepath.Join("..", "artifact", "quickjs.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(wasm) != translated.Source {
		t.Error("quickjs.wasm has changed since it was translated: make artifacts")
	}
}

// TestMemory: memory grows in its place, and an access past its end is a panic.
func TestMemory(t *testing.T) {
	translated, m, memory := instance(t, 64<<20)
	pages := int32(translated.Memory >> 16)
	for _, c := range []struct {
		name   string
		by     uint32
		before int32
	}{
		{"not at all", 0, pages},
		{"by one page", 1, pages},
		{"to the most", 1024 - uint32(pages) - 1, pages + 1},
		{"over the most", 1, -1},
		{"by all addresses", 1<<32 - 1, -1},
	} {
		if got := m.Grow(c.by); got != c.before {
			t.Errorf("%s: %d pages before, want %d", c.name, got, c.before)
		}
	}
	memory[len(memory)-1] = 1
	free := translated.Functions["free"]
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("free of an address after the end: %v", err)
		}
	}()
	free(m, &[8]uint64{uint64(len(memory)) + 64})
}

// TestClosed: a closed module keeps no memory.
func TestClosed(t *testing.T) {
	translated, m, _ := instance(t, 64<<20)
	m.Close()
	defer func() {
		if recover() == nil {
			t.Error("it reads memory")
		}
	}()
	translated.Functions["malloc"](m, &[8]uint64{16})
}

// TestNames: a lookup finds exported names, and gives nil for others.
func TestNames(t *testing.T) {
	translated, m, _ := instance(t, 64<<20)
	if m.Global("no such global") != nil || translated.Functions["no such function"] != nil {
		t.Error("a name that is not exported is found")
	}
	if stack := m.Global("__stack_pointer"); stack == nil || *stack <= 0 {
		t.Errorf("the end of the C stack: %v", stack)
	}
}
