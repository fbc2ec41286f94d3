package rewrite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
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
		t.Run(fmt.Sprint(c.loops), func(t *testing.T) {
			if _, err := loop.Call(ctx, uint64(c.loops)); err != nil || *interrupts != c.want {
				t.Errorf("after %d loops more: %d interrupts, %v; want %d", c.loops, *interrupts, err, c.want)
			}
		})
	}
	for range 100 { // each call gives its stack back
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

// declaring has something of every kind but exceptions.
var declaring = head +
	section(0, 1, 'c', 9, 9) +
	section(1, 1, 0x60, 2, 0x7f, 0x7e, 1, 0x7c) +
	section(2, 2, 1, 'a', 1, 'b', 0, 0, 1, 'a', 1, 'g', 3, 0x7d, 0) +
	section(4, 1, 0x70, 1, 2, 9) + section(5, 1, 0, 3) +
	section(7, 3, 1, 'x', 0, 0, 1, 'y', 1, 0, 1, 'z', 3, 0) +
	section(9, 1, 0, 0x41, 1, 0x0b, 1, 0)

func TestDeclares(t *testing.T) {
	m, err := rewrite.Rewrite([]byte(declaring))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.FuncType(0).Key(); got != "iI:d" || m.ImportedFuncs != 1 || m.ImportedGlobals != 1 || m.Start != wasmbinary.NoRef {
		t.Errorf("got %s, %+v", got, m)
	}
	if len(m.Exports) != 3 || m.Exports[1].Kind != wasmbinary.Table ||
		m.Tables[0] != (wasmbinary.TableType{Elem: wasmbinary.Funcref, Limits: wasmbinary.Limits{Min: 2, Max: 9, HasMax: true}}) {
		t.Errorf("got %+v, %+v", m.Exports, m.Tables)
	}
	if m.Memory == nil || m.Memory.Min != 3 || m.ImportsMemory || len(m.Customs) != 1 || !bytes.Equal(m.Customs[0].Data, []byte{9, 9}) {
		t.Errorf("got %+v, %+v", m.Memory, m.Customs)
	}
	if len(m.Elems) != 1 || m.Elems[0] != (rewrite.Elem{Offset: 1, Global: wasmbinary.NoRef, Length: 1}) || len(m.Refs) != 1 ||
		m.Refs[0] != 0 {
		t.Errorf("got %+v, %v", m.Elems, m.Refs)
	}
}

// TestRefuses: malformed modules, and those that would reach the host's own parts.
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
		"two memories":      {head + section(5, 2, 0, 1, 0, 1), "multiple memories"},
		"shared memory":     {head + section(5, 1, 2, 1), "a shared memory without a maximum"},
		"64 bits":           {head + section(5, 1, 4, 1), "64-bit memories"},
		"huge table":        {head + section(4, 1, 0x70, 0, 0xff, 0xff, 0xff, 0xff, 0x0f), "over the limit of 10000000"},
		"export twice":      {head + section(5, 1, 0, 1) + section(7, 2, 1, 'a', 2, 0, 1, 'a', 2, 0), `"a" is exported twice`},
		"tag's type":        {head + section(2, 1, 0, 0, 4, 0, 0), "type 0 does not exist"},
		"tag's kind":        {head + section(1, 1, 0x60, 0, 0) + section(13, 1, 1, 0), "a tag of the kind 1"},
		"tag's results":     {head + section(1, 1, 0x60, 0, 1, 0x7f) + section(13, 1, 0, 0), "a tag's type has results"},
		"tag after globals": {head + section(1, 1, 0x60, 0, 0) + section(6, 0) + section(13, 1, 0, 0), "out of order"},
		"no end":            {one + body(0x01), "no end"},
		"after the end":     {one + body(0x0b, 0x01, 0x0b), "after the end"},
		"the host's global": {one + body(0x41, 0, 0x24, 0, 0x0b), "global 0 does not exist"},
		"the host's func":   {one + body(0x10, 1, 0x0b), "function 1 does not exist"},
		"the host's local":  {one + body(0x20, 0, 0x1a, 0x0b), "local 0 does not exist"},
		"the host's table":  {one + body(0x41, 0, 0x25, 0, 0x1a, 0x0b), "table 0 does not exist"},
		"the host's label":  {one + body(0x0c, 1, 0x0b), "label 1 does not exist"},
		"the host's type":   {one + body(0x02, 1, 0x0b, 0x0b), "type 1 does not exist"},
		"immutable": {
			head + section(1, 1, 0x60, 0, 0) + section(3, 1, 0) + section(6, 1, 0x7f, 0, 0x41, 0, 0x0b) + body(0x41, 0, 0x24, 0, 0x0b),
			"it is immutable",
		},
		"no such tag":       {one + body(0x08, 0, 0x0b), "tag 0 does not exist"},
		"catch alone":       {one + body(0x19, 0x0b), "a catch or delegate without its try"},
		"catch in a block":  {one + body(0x06, 0x40, 0x02, 0x40, 0x19, 0x0b, 0x0b, 0x0b), "a catch or delegate without its try"},
		"catch after all":   {one + body(0x06, 0x40, 0x19, 0x19, 0x0b, 0x0b), "a catch or delegate without its try"},
		"delegate alone":    {one + body(0x18, 0), "label 0 does not exist"},
		"delegate too far":  {one + body(0x06, 0x40, 0x18, 1, 0x0b), "label 1 does not exist"},
		"caught, delegated": {one + body(0x06, 0x40, 0x19, 0x18, 0, 0x0b), "a catch or delegate without its try"},
		"rethrow of a try":  {one + body(0x06, 0x40, 0x09, 0, 0x0b, 0x0b), "rethrow of label 0, which is not a catch"},
		"rethrow alone":     {one + body(0x09, 0, 0x0b), "rethrow of label 0, which is not a catch"},
		"clause's kind":     {one + body(0x1f, 0x40, 1, 4, 0, 0x0b, 0x0b), "a clause of the kind 4"},
		"clause's label":    {one + body(0x1f, 0x40, 1, 2, 1, 0x0b, 0x0b), "label 1 does not exist"},
		"clause's type": {
			one + body(0x1f, 0x40, 1, 3, 0, 0x0b, 0x0b),
			"type mismatch: a clause's label takes other values than the clause gives",
		},
		"both encodings": {
			one + body(0x06, 0x40, 0x0b, 0x1f, 0x40, 0, 0x0b, 0x0b),
			"a mix of legacy and new exception handling instructions",
		},
		"instruction":     {one + body(0xff, 0x0b), "the instruction 0xff is not supported"},
		"start":           {head + section(1, 1, 0x60, 1, 0x7f, 0) + section(3, 1, 0) + section(8, 0), "the start function has parameters"},
		"data, no memory": {head + section(11, 1, 0, 0x41, 0, 0x0b, 0), "no memory"},
		"data count":      {head + section(12, 1), "1 data segments are announced, and 0 are there"},
		"not constant":    {head + section(6, 1, 0x7f, 0, 0x45, 0x0b), "not constant"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rewrite.Rewrite([]byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
			}
		})
	}
}

// FuzzRewrite: no input makes it panic; the declarations of an accepted module are correct.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(counted))
	f.Add([]byte(counted[:60]))
	f.Add([]byte(throwing([]byte{0x06, 0x40, 0x08, 0, 0x07, 0, 0x09, 0, 0x19, 0x0b, 0x0b})))
	f.Add([]byte(throwing([]byte{0x02, 0x69, 0x1f, 0x40, 2, 0, 0, 1, 3, 0, 0x08, 0, 0x0b, 0x0b, 0x0a, 0x0b})))
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

// TestUnlowered: exceptions cost nothing in modules that have none. Their output is
// the same, byte for byte, as without support for exceptions.
func TestUnlowered(t *testing.T) {
	// dropping initializes a table, drops segments and copies bytes.
	dropping := head + section(1, 1, 0x60, 0, 0) + section(3, 1, 0) + section(4, 1, 0x70, 0, 3) + section(5, 1, 0, 1) + section(
		6, 1, 0x6f, 1, 0xd0, 0x6f, 0x0b,
	) +
		section(9, 1, 1, 0, 1, 0) + section(10, 1, 45, 0,
		0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 12, 0, 0, 0xfc, 13, 0, 0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 10, 0, 0,
		0x41, 0, 0xd0, 0x70, 0x41, 1, 0xfc, 17, 0, 0xd0, 0x6f, 0xd0, 0x6f, 0x41, 0, 0x1c, 1, 0x6f, 0x24, 0, 0x0b)
	sum := func(m *rewrite.Module) string { return fmt.Sprintf("%x", sha256.Sum256(m.Bytes))[:16] }
	for name, c := range map[string]struct{ in, want string }{
		"counted":   {counted, "228bea0277dbf17e"},
		"declaring": {declaring, "e202fd860e00b161"},
		"dropping":  {dropping, "cf123ae50fc74c8f"},
	} {
		m, err := rewrite.Rewrite([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Throws || sum(m) != c.want {
			t.Errorf("%s: got %s, throws %v; want %s", name, sum(m), m.Throws, c.want)
		}
		lowered, err := rewrite.Lower([]byte(c.in))
		if err != nil || !lowered.Throws || sum(lowered) == sum(m) {
			t.Errorf("%s: lowered: %v", name, err)
		}
	}
}

// TestNested: the output for hostile nesting grows as the body does.
func TestNested(t *testing.T) {
	repeat := func(n int, part ...byte) []byte { return bytes.Repeat(part, n) }
	const n = 4_000
	bodies := map[string][]byte{
		"tries":      slices.Concat(repeat(n, 0x06, 0x40), []byte{0x08, 0}, repeat(n, 0x19, 0x0b)),
		"handlers":   slices.Concat(repeat(n, 0x06, 0x40, 0x19), []byte{0x08, 0}, repeat(n, 0x0b)),
		"clauses":    slices.Concat([]byte{0x06, 0x40, 0x08, 0}, repeat(n, 0x07, 0), []byte{0x0b}),
		"delegates":  slices.Concat(repeat(n, 0x06, 0x40), []byte{0x08, 0}, repeat(n, 0x18, 0)),
		"tables":     slices.Concat(repeat(n, 0x1f, 0x40, 1, 2, 0), []byte{0x08, 0}, repeat(n, 0x0b)),
		"one table":  slices.Concat([]byte{0x1f, 0x40, 0xa0, 0x1f}, repeat(n, 2, 0), []byte{0x08, 0, 0x0b}),
		"parameters": slices.Concat(repeat(n, 0x41, 0, 0x06, 1, 0x19, 0x0b)),
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			m, err := rewrite.Rewrite([]byte(throwing(append(body, 0x0b))))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if limit := 40*len(body) + 4096; len(m.Bytes) > limit {
				t.Errorf("%s: %d bytes of %d, more than %d", name, len(m.Bytes), len(body), limit)
			}
		})
	}
	held := slices.Concat(repeat(n, 0x06, 0x40, 0x19), repeat(n, 0x09, 0, 0x0b), []byte{0x0b})
	if _, err := rewrite.Rewrite([]byte(throwing(held))); err != nil {
		t.Errorf("%d locals: %v", 2*n, err)
	}
	held = slices.Concat(repeat(10*n, 0x06, 0x40, 0x19), repeat(10*n, 0x09, 0, 0x0b), []byte{0x0b})
	if _, err := rewrite.Rewrite([]byte(throwing(held))); err == nil || !strings.Contains(err.Error(), "more than 50000 locals") {
		t.Errorf("%d locals: %v", 20*n, err)
	}
	for name, body := range map[string][]byte{
		"tries":   slices.Concat(repeat(2*n, 0x06, 0x40), []byte{0x08, 0}, repeat(2*n, 0x19, 0x0b)),
		"clauses": slices.Concat([]byte{0x06, 0x40, 0x08, 0}, repeat(3*n, 0x07, 0), []byte{0x0b}),
		"blocks":  slices.Concat(repeat(6*n, 0x02, 0x40, 0x0b), []byte{0x08, 0}),
	} {
		if _, err := rewrite.Rewrite([]byte(throwing(append(body, 0x0b)))); err == nil ||
			!strings.Contains(err.Error(), "more than 20000 blocks in a function that throws or catches") {
			t.Errorf("too many %s: %v", name, err)
		}
	}
}

// TestBranching: a module that would take hours to compile is refused, whether in one function or in many.
func TestBranching(t *testing.T) {
	blocks := func(n int) []byte { return append(bytes.Repeat([]byte{0x02, 0x40, 0x0b}, n), 0x0b) }
	for _, c := range []struct {
		name              string
		functions, blocks int
		want              string
	}{
		{"one function", 1, 140_000, ""},
		{"one function over the limit", 1, 142_000, "142000 are in this one"},
		{"four functions", 4, 70_000, ""},
		{"five functions over the limit", 5, 70_000, "70000 are in this one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := append([]byte{0}, blocks(c.blocks)...)
			code := binary.AppendUvarint(nil, uint64(c.functions))
			for range c.functions {
				code = append(binary.AppendUvarint(code, uint64(len(body))), body...)
			}
			module := head + section(1, 1, 0x60, 0, 0) + section(3, append([]byte{byte(c.functions)}, make([]byte, c.functions)...)...) +
				string(binary.AppendUvarint([]byte{10}, uint64(len(code)))) + string(code)
			_, err := rewrite.Rewrite([]byte(module))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d functions of %d blocks: %v", c.functions, c.blocks, err)
			}
		})
	}
}

// throwing is a module with a tag that holds nothing, and a function () of a body.
func throwing(body []byte) string {
	long := func(id byte, body []byte) string {
		return string(binary.AppendUvarint([]byte{id}, uint64(len(body)))) + string(body)
	}
	whole := append(binary.AppendUvarint([]byte{1}, uint64(len(body)+1)), 0)
	return head + section(1, 2, 0x60, 0, 0, 0x60, 1, 0x7f, 0) + section(3, 1, 0) + section(13, 1, 0, 0) + long(10, append(whole, body...))
}
