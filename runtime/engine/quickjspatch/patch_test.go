package quickjspatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// spin is a module with one exported function "spin" that loops without end, and
// "count" (i32) -> i32 that counts its argument down in a loop with a nested
// br_table, an i64 constant and a block, and returns 7.
var spin = append(head(),
	section(10, 2,
		7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b,
		25, 0, 0x03, 0x40, 0x42, 0xff, 0xff, 0x03, 0x1a, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0,
		0x02, 0x40, 0x01, 0x0b, 0x0b, 0x41, 7, 0x0b)...)

// head is all of spin before its code.
func head() []byte {
	return module(
		section(1, 3, 0x60, 0, 1, 0x7f, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f),
		section(2, append([]byte{1, 3, 'e', 'n', 'v', 14}, append([]byte("host_interrupt"), 0, 0)...)...),
		section(3, 2, 1, 2),
		section(6, 1, 0x7f, 1, 0x41, 0, 0x0b),
		section(7, 2, 4, 's', 'p', 'i', 'n', 0, 1, 5, 'c', 'o', 'u', 'n', 't', 0, 2),
	)
}

func module(sections ...[]byte) []byte {
	m := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		m = append(m, s...)
	}
	return m
}

func section(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }

var errStop = errors.New("stop")

// run instantiates the module, instrumented, calls fn and returns how often the
// host was interrupted; the host panics at the limit-th time.
func run(t *testing.T, module []byte, fn string, limit int, args ...uint64) (results []uint64, interrupts int, err error) {
	t.Helper()
	ctx := context.Background()
	m, err := quickjspatch.Instrument(module)
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err = r.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() uint32 {
		if interrupts++; interrupts == limit {
			panic(errStop)
		}
		return 0
	}).Export("host_interrupt").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := r.Instantiate(ctx, m)
	if err != nil {
		t.Fatalf("the rewritten module is refused: %v", err)
	}
	results, err = mod.ExportedFunction(fn).Call(ctx, args...)
	return results, interrupts, err
}

func TestEndlessLoopIsHeard(t *testing.T) {
	_, n, err := run(t, spin, "spin", 3)
	if !errors.Is(err, errStop) || n != 3 {
		t.Fatalf("got %v after %d interrupts, want the host's own error after 3", err, n)
	}
}

func TestResultAndPeriod(t *testing.T) {
	for _, c := range []struct {
		loops uint64
		want  int
	}{{1, 0}, {quickjspatch.Period - 1, 0}, {quickjspatch.Period, 1}, {5*quickjspatch.Period + 3, 5}} {
		t.Run(fmt.Sprint(c.loops), func(t *testing.T) {
			results, n, err := run(t, spin, "count", 0, c.loops)
			if err != nil || results[0] != 7 || n != c.want {
				t.Errorf("%d loops: result %v, %d interrupts, error %v; want 7 and %d", c.loops, results, n, err, c.want)
			}
		})
	}
}

// TestMovesCount: bytes that one instruction moves count as loop iterations do.
func TestMovesCount(t *testing.T) {
	// count (i32) -> i32 fills and copies that many bytes, a hundred times over.
	body := []byte{
		1, 1, 0x7f, 0x03, 0x40,
		0x41, 0, 0x41, 7, 0x20, 0, 0xfc, 11, 0,
		0x41, 0, 0x41, 1, 0x20, 0, 0xfc, 10, 0, 0,
		0x20, 1, 0x41, 1, 0x6a, 0x22, 1, 0x41, 0xe4, 0, 0x49, 0x0d, 0, 0x0b, 0x20, 1, 0x0b,
	}
	mover := module(
		section(1, 2, 0x60, 0, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f),
		section(2, append([]byte{1, 3, 'e', 'n', 'v', 14}, append([]byte("host_interrupt"), 0, 0)...)...),
		section(3, 1, 1),
		section(5, 1, 0, 16),
		section(6, 1, 0x7f, 1, 0x41, 0, 0x0b),
		section(7, 1, 5, 'c', 'o', 'u', 'n', 't', 0, 1),
		section(10, append([]byte{1, byte(len(body))}, body...)...),
	)
	for length, want := range map[uint64]int{0: 0, 64: 0, 1 << 16: 49} {
		results, n, err := run(t, mover, "count", 0, length)
		if err != nil || results[0] != 100 || n != want {
			t.Errorf("moves of %d bytes: result %v, %d interrupts, error %v; want 100 and %d", length, results, n, err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	noImport := module(section(1, 1, 0x60, 0, 0), section(2, 0))
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"text":           {[]byte("hello"), "not a WebAssembly module"},
		"no interrupt":   {noImport, "does not import env.host_interrupt"},
		"no code":        {spin[:8], "has no code"},
		"cut off":        {spin[:len(spin)-3], "unexpected end"},
		"unknown opcode": {append(head(), section(10, 2, 2, 0, 0x0b, 4, 0, 0xfe, 0, 0x0b)...), "unknown instruction 0xfe"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := quickjspatch.Instrument(c.in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
			}
		})
	}
}

func FuzzInstrument(f *testing.F) {
	f.Add(spin)
	f.Add(spin[:40])
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := quickjspatch.Instrument(in)
		if (err == nil) == (out == nil) {
			t.Fatalf("out %d bytes and error %v", len(out), err)
		}
	})
}
