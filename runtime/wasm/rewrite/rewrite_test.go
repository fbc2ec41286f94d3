package rewrite_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
)

const head = "\x00asm\x01\x00\x00\x00"

func section(id byte, body ...byte) string { return string([]byte{id, byte(len(body))}) + string(body) }

// counted is a module with loop(n), which loops n times,
// pair() -> (1, 2) by way of a call, and both exported.
var counted = head +
	section(1, 3, 0x60, 1, 0x7f, 0, 0x60, 0, 2, 0x7f, 0x7f, 0x60, 0, 0) +
	section(3, 2, 0, 1) +
	section(7, 2, 4, 'l', 'o', 'o', 'p', 0, 0, 4, 'p', 'a', 'i', 'r', 0, 1) +
	section(10, 2,
		14, 0, 0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x0b,
		13, 1, 1, 0x7f, 0x41, 3, 0x10, 0, 0x41, 1, 0x41, 2, 0x0f, 0x0b)

// host instantiates a rewritten module beside the host's parts, and counts.
func host(t *testing.T, module []byte) (m api.Module, interrupts, overflows *int, stack api.MutableGlobal) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { r.Close(ctx) })
	interrupts, overflows = new(int), new(int)
	_, err := r.NewHostModuleBuilder(rewrite.Host).
		NewFunctionBuilder().WithFunc(func() { *interrupts++ }).Export(rewrite.HostInterrupt).
		NewFunctionBuilder().WithFunc(func() { *overflows++; panic("overflow") }).Export(rewrite.HostOverflow).
		NewFunctionBuilder().WithFunc(func(uint32) uint32 { return 1 }).Export(rewrite.HostAllow).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	counters, err := r.InstantiateWithConfig(ctx, []byte(head+
		section(6, 2, 0x7f, 1, 0x41, 1, 0x0b, 0x7f, 1, 0x41, 0xc0, 0, 0x0b)+
		section(7, 2, 4, 'f', 'u', 'e', 'l', 3, 0, 5, 's', 't', 'a', 'c', 'k', 3, 1)), wazero.NewModuleConfig().WithName(rewrite.Counters))
	if err != nil {
		t.Fatal(err)
	}
	stack, ok := counters.ExportedGlobal(rewrite.HostStack).(api.MutableGlobal)
	if !ok {
		t.Fatal("the counter of stack cannot be set")
	}
	m, err = r.Instantiate(ctx, module)
	if err != nil {
		t.Fatalf("the rewritten module is refused: %v", err)
	}
	return m, interrupts, overflows, stack
}

func TestCounts(t *testing.T) {
	m, err := rewrite.Rewrite([]byte(counted))
	if err != nil {
		t.Fatal(err)
	}
	instance, interrupts, overflows, stack := host(t, m.Bytes)
	ctx := context.Background()
	loop, pair := instance.ExportedFunction("f0"), instance.ExportedFunction("f1")
	stack.Set(1000)
	for _, c := range []struct{ loops, want int }{{1, 1}, {rewrite.Period - 1, 1}, {1, 2}, {3 * rewrite.Period, 5}} {
		if _, err := loop.Call(ctx, uint64(c.loops)); err != nil || *interrupts != c.want {
			t.Errorf("after %d loops more: %d interrupts, %v; want %d", c.loops, *interrupts, err, c.want)
		}
	}
	for range 100 { // what is taken of the stack is given back
		if got, err := pair.Call(ctx); err != nil || got[0] != 1 || got[1] != 2 {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if stack.Get() != 1000 || *overflows != 0 {
		t.Errorf("the stack is %d after 100 calls, want 1000", stack.Get())
	}
	stack.Set(10)
	if _, err := pair.Call(ctx); err == nil || *overflows != 1 {
		t.Errorf("with no stack: %d overflows, %v", *overflows, err)
	}
}

func TestDeclares(t *testing.T) {
	m, err := rewrite.Rewrite([]byte(head +
		section(0, 1, 'c', 9, 9) +
		section(1, 1, 0x60, 2, 0x7f, 0x7e, 1, 0x7c) +
		section(2, 2, 1, 'a', 1, 'b', 0, 0, 1, 'a', 1, 'g', 3, 0x7d, 0) +
		section(4, 1, 0x70, 1, 2, 9) + section(5, 1, 0, 3) +
		section(7, 3, 1, 'x', 0, 0, 1, 'y', 1, 0, 1, 'z', 3, 0) +
		section(9, 1, 0, 0x41, 1, 0x0b, 1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.FuncType(0).Key(); got != "iI:d" || m.ImportedFuncs != 1 || m.ImportedGlobals != 1 || m.Start != rewrite.NoRef {
		t.Errorf("got %s, %+v", got, m)
	}
	if len(m.Exports) != 3 || m.Exports[1].Kind != rewrite.Table || m.Tables[0] != (rewrite.TableType{Elem: rewrite.Funcref, Limits: rewrite.Limits{Min: 2, Max: 9, HasMax: true}}) {
		t.Errorf("got %+v, %+v", m.Exports, m.Tables)
	}
	if m.Memory == nil || m.Memory.Min != 3 || m.ImportsMemory || len(m.Customs) != 1 || !bytes.Equal(m.Customs[0].Data, []byte{9, 9}) {
		t.Errorf("got %+v, %+v", m.Memory, m.Customs)
	}
	if len(m.Elems) != 1 || m.Elems[0] != (rewrite.Elem{Offset: 1, Global: rewrite.NoRef, Length: 1}) || len(m.Refs) != 1 || m.Refs[0] != 0 {
		t.Errorf("got %+v, %v", m.Elems, m.Refs)
	}
}

// TestRefuses: what is malformed, and what would reach the host's own parts.
func TestRefuses(t *testing.T) {
	one := head + section(1, 1, 0x60, 0, 0) + section(3, 1, 0)
	body := func(code ...byte) string {
		return section(10, append([]byte{1, byte(len(code) + 1), 0}, code...)...)
	}
	for name, c := range map[string]struct{ in, want string }{
		"text":              {"hello", "expected the magic bytes 00 61 73 6d @+0"},
		"version":           {"\x00asm\x02\x00\x00\x00", "expected version 01 00 00 00 @+4"},
		"cut off":           {counted[:len(counted)-3], "unexpected end"},
		"order":             {head + section(3, 0) + section(1, 0), "out of order"},
		"twice":             {head + section(1, 0) + section(1, 0), "there twice"},
		"too long":          {head + section(1, 0, 0), "1 bytes too many"},
		"no body":           {one, "1 functions are declared, and 0 have a body"},
		"two memories":      {head + section(5, 2, 0, 1, 0, 1), "2 memories"},
		"shared memory":     {head + section(5, 1, 3, 1, 1), "shared memory is not supported"},
		"64 bits":           {head + section(5, 1, 4, 1), "limits of the kind 4"},
		"huge table":        {head + section(4, 1, 0x70, 0, 0xff, 0xff, 0xff, 0xff, 0x0f), "over the limit of 10000000"},
		"export twice":      {head + section(5, 1, 0, 1) + section(7, 2, 1, 'a', 2, 0, 1, 'a', 2, 0), `"a" is exported twice`},
		"exception tag":     {head + section(2, 1, 0, 0, 4, 0, 0), `exception handling is not supported: the import "" "" is a tag`},
		"own tag":           {head + section(13, 1, 0, 0), "exception handling is not supported"},
		"no end":            {one + body(0x01), "no end"},
		"after the end":     {one + body(0x0b, 0x01, 0x0b), "after the end"},
		"the host's global": {one + body(0x41, 0, 0x24, 0, 0x0b), "global 0 does not exist"},
		"the host's func":   {one + body(0x10, 1, 0x0b), "function 1 does not exist"},
		"the host's local":  {one + body(0x20, 0, 0x1a, 0x0b), "local 0 does not exist"},
		"the host's table":  {one + body(0x41, 0, 0x25, 0, 0x1a, 0x0b), "table 0 does not exist"},
		"the host's label":  {one + body(0x0c, 1, 0x0b), "label 1 does not exist"},
		"the host's type":   {one + body(0x02, 1, 0x0b, 0x0b), "type 1 does not exist"},
		"immutable":         {head + section(1, 1, 0x60, 0, 0) + section(3, 1, 0) + section(6, 1, 0x7f, 0, 0x41, 0, 0x0b) + body(0x41, 0, 0x24, 0, 0x0b), "it is immutable"},
		"exceptions":        {one + body(0x06, 0x40, 0x0b, 0x0b), "exception handling is not supported"},
		"instruction":       {one + body(0xff, 0x0b), "the instruction 0xff is not supported"},
		"start":             {head + section(1, 1, 0x60, 1, 0x7f, 0) + section(3, 1, 0) + section(8, 0), "the start function has parameters"},
		"data, no memory":   {head + section(11, 1, 0, 0x41, 0, 0x0b, 0), "no memory"},
		"data count":        {head + section(12, 1), "1 data segments are announced, and 0 are there"},
		"not constant":      {head + section(6, 1, 0x7f, 0, 0x45, 0x0b), "not constant"},
	} {
		_, err := rewrite.Rewrite([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

// FuzzRewrite: no input makes it panic; what it accepts declares what it should.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(counted))
	f.Add([]byte(counted[:60]))
	f.Add([]byte(head + section(5, 1, 0, 1) + section(11, 1, 0, 0x41, 0, 0x0b, 2, 1, 2)))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := rewrite.Rewrite(in)
		if (err == nil) == (m == nil) {
			t.Fatalf("module %v and error %v", m, err)
		}
		if err == nil && (!bytes.HasPrefix(m.Bytes, []byte(head)) || len(m.Exports) > len(in)) {
			t.Fatalf("got %d exports and %q", len(m.Exports), m.Bytes[:min(8, len(m.Bytes))])
		}
	})
}
