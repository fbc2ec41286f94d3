package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// maxValidate is the maximum number of bytes of a module for WebAssembly.validate, which takes up to 600 times as much memory.
const maxValidate = 256 << 10

// Names returns the names of the host functions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Funcs())) }

// hostFunc is a host function for the store of its VM.
type hostFunc = func(s *store, c *engine.Call) (any, error)

// Funcs returns the host functions by name. The comment of each shows its parameters and its result, as in
// "wasm_load(specifier) -> number of a module".
//
// They call these entry points of the prelude: wasmCall(instance, import, …) calls an imported function,
// wasmGrown(instance) reports a memory that grew, wasmLost() returns the numbers of unreachable instances,
// wasmError(class, message) returns an error of WebAssembly's own, wasmThrown(tag, types, instance, …) an exception of a tag
// of the instance, wasmCaught(value) the parts of a thrown value that an instance may see: null when it may not catch it,
// [tag, …] of an exception, [] of anything else; and wasmSlot(value) returns the value as an externref.
func Funcs() map[string]engine.Func {
	all := map[string]engine.Func{}
	for name, f := range map[string]hostFunc{
		"wasm_load":        load,
		"wasm_describe":    withArgument(moduleArgument, describe),
		"wasm_customs":     withArgument(moduleArgument, customs),
		"wasm_validate":    validate,
		"wasm_instantiate": withArgument(moduleArgument, instantiate),
		"wasm_exports":     withArgument(instanceArgument, exports),
		"wasm_start":       withArgument(instanceArgument, startInstance),
		"wasm_call":        withArgument(functionArgument, callExport),
		"wasm_type":        withArgument(functionArgument, functionType),
		"wasm_memory":      newMemory,
		"wasm_buffer":      withArgument(memoryArgument, buffer),
		"wasm_maximum":     withArgument(memoryArgument, maximum),
		"wasm_address":     withArgument(memoryArgument, memoryAddress),
		"wasm_point":       withArgument(memoryArgument, point),
		"wasm_settle":      withArgument(memoryArgument, settle),
		"wasm_detach":      detach,
		"wasm_grow":        withArgument(memoryArgument, growMemory),
		"wasm_table":       newTable,
		"wasm_table_size":  withArgument(tableArgument, tableSize),
		"wasm_table_get":   withArgument(tableArgument, tableGet),
		"wasm_table_set":   withArgument(tableArgument, tableSet),
		"wasm_table_grow":  withArgument(tableArgument, tableGrow),
		"wasm_global":      newGlobal,
		"wasm_global_get":  withArgument(globalArgument, globalGet),
		"wasm_global_set":  withArgument(globalArgument, globalSet),
		"wasm_tag":         newTag,
		"wasm_externs":     liveExterns,
		"wasm_collect":     collect,
	} {
		all[name] = func(c *engine.Call) (any, error) {
			s, ok := c.VM().Companion().(*store)
			if !ok {
				return nil, engine.TypeError("WebAssembly is not available here")
			}
			if err := s.prepare(); err != nil {
				return nil, err
			}
			result, err := f(s, c)
			if err != nil {
				err = s.withClass(err)
			}
			return result, err
		}
	}
	return all
}

// withArgument returns a host function whose first argument names the result of find.
func withArgument[T any](
	find func(*store, *engine.Call) (T, error), f func(s *store, c *engine.Call, x T) (any, error),
) hostFunc {
	return func(s *store, c *engine.Call) (any, error) {
		x, err := find(s, c)
		if err != nil {
			return nil, err
		}
		return f(s, c, x)
	}
}

func moduleArgument(s *store, c *engine.Call) (*program, error) {
	id := int(c.Int(0))
	if id < 0 || id >= len(s.modules) {
		return nil, engine.TypeError("there is no module %d", id)
	}
	return s.modules[id], nil
}

func instanceArgument(s *store, c *engine.Call) (*instance, error) { return s.instance(int(c.Int(0))) }

func functionArgument(s *store, c *engine.Call) (function, error) { return s.function(c.Int(0)) }

func memoryArgument(s *store, c *engine.Call) (*instance, error) {
	in, err := s.instance(int(c.Int(0)))
	if err == nil && in.region == nil {
		err = engine.TypeError("instance %d has no memory", in.id)
	}
	return in, err
}

func tableArgument(s *store, c *engine.Call) (address, error) {
	in, index, err := s.decode(c.Int(0))
	if err == nil && int(index) >= len(in.tables) {
		err = engine.TypeError("there is no table %d", index)
	}
	if err != nil {
		return address{}, err
	}
	return in.tables[index], nil
}

// globalArgument refuses globals of type v128.
func globalArgument(s *store, c *engine.Call) (address, error) {
	in, index, err := s.decode(c.Int(0))
	if err == nil && int(index) >= len(in.globals) {
		err = engine.TypeError("there is no global %d", index)
	}
	if err != nil {
		return address{}, err
	}
	g := in.globals[index]
	if g.globalType().Type == wasmbinary.V128 {
		return address{}, engine.TypeError("a v128 global has no value in JavaScript")
	}
	return g, nil
}

// withClass makes objects of errors of WebAssembly's own classes.
func (s *store) withClass(err error) error {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return err
	}
	switch e.Name {
	case "CompileError", "LinkError", "RuntimeError":
	default:
		return err
	}
	object, failed := s.vm.InvokeWith("wasmError", e.Name, e.Message)
	if failed != nil {
		return failed
	}
	return engine.Throw(object)
}

// wasm_load(specifier) -> number of a module
func load(s *store, c *engine.Call) (any, error) {
	m, known := s.set.modules[c.String(0)]
	if !known {
		return nil, engine.TypeError("no such module %q", c.String(0))
	}
	if m.err != nil {
		return nil, m.err
	}
	at := slices.Index(s.modules, m.program)
	if at < 0 {
		at = len(s.modules)
		s.modules = append(s.modules, m.program)
	}
	return at, nil
}

// descriptor is an import or export, as WebAssembly.Module.imports shows it.
type descriptor struct {
	Module *string `json:"module,omitempty"`
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Type   string  `json:"type,omitempty"` // of a function its Key, of a global its type's letter
}

// wasm_describe(module) -> [[imports], [exports]]
func describe(_ *store, _ *engine.Call, p *program) (any, error) {
	imports, exports := []descriptor{}, []descriptor{}
	for _, d := range p.Imports {
		imports = append(imports, descriptor{Module: &d.Module, Name: d.Name, Kind: d.Kind.String(), Type: typeText(p, d.Kind, d.Index)})
	}
	for _, e := range p.Exports {
		exports = append(exports, descriptor{Name: e.Name, Kind: e.Kind.String()})
	}
	text, err := json.Marshal([2][]descriptor{imports, exports})
	return json.RawMessage(text), err
}

func typeText(p *program, k wasmbinary.Kind, index uint32) string {
	switch k {
	case wasmbinary.Func:
		return p.FuncType(index).Key()
	case wasmbinary.Global:
		g := p.Globals[index]
		return wasmbinary.FuncType{Params: []wasmbinary.ValType{g.Type}}.Key()[:1]
	default:
		return ""
	}
}

// wasm_customs(module, name) -> [bytes]
func customs(_ *store, c *engine.Call, p *program) (any, error) {
	list := []any{}
	for _, x := range p.Customs {
		if x.Name == c.String(1) {
			list = append(list, x.Data)
		}
	}
	return list, nil
}

// wasm_validate(view) -> boolean
func validate(s *store, c *engine.Call) (any, error) {
	module := c.Bytes(0)
	if len(module) > maxValidate {
		return nil, &engine.Error{Name: "RangeError", Message: fmt.Sprintf(
			"WebAssembly.validate(): %d bytes are more than the %d that can be validated here", len(module), maxValidate,
		)}
	}
	return c.Offload(func() (any, error) { return s.set.runtime.check(s.ctx, module) == nil, nil })
}

// wasm_instantiate(module, links) -> number of an instance; links are the sources of its imports: see store.newInstance
func instantiate(s *store, c *engine.Call, p *program) (any, error) {
	list, _ := c.Value(1).([]any)
	links := make([]int64, len(list))
	for i, x := range list {
		n, _ := x.(float64)
		links[i] = int64(n)
	}
	return instanceID(s.newInstance(p, links))
}

// instanceID is the result of a host function that makes an instance.
func instanceID(in *instance, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return in.id, nil
}

// exported is an export of an instance. Code and Instance are its address; a tag's code is its number.
type exported struct {
	Name     string  `json:"name"`
	Kind     byte    `json:"kind"`
	Instance int     `json:"instance"`
	Code     float64 `json:"code"`
	Type     string  `json:"type"`
	Mutable  bool    `json:"mutable"`
}

// wasm_exports(instance) -> [exported]
func exports(_ *store, _ *engine.Call, in *instance) (any, error) {
	list := make([]exported, 0, len(in.program.Exports))
	for _, e := range in.program.Exports {
		list = append(list, in.describeExport(e))
	}
	text, err := json.Marshal(list)
	return json.RawMessage(text), err
}

func (in *instance) describeExport(e wasmbinary.Export) exported {
	x := exported{Name: e.Name, Kind: byte(e.Kind)}
	switch e.Kind {
	case wasmbinary.Func:
		f := function{in, e.Index}.resolve()
		x.Instance, x.Code, x.Type = f.instance.id, code(f.instance, f.index), f.typ().Key()
	case wasmbinary.Table:
		p := in.tables[e.Index]
		x.Instance, x.Code = p.instance.id, p.code()
		x.Type = wasmbinary.FuncType{Params: []wasmbinary.ValType{p.typ().Elem}}.Key()[:1]
	case wasmbinary.Memory:
		x.Instance = in.memory.id
	case wasmbinary.Global:
		p := in.globals[e.Index]
		x.Instance, x.Code, x.Mutable = p.instance.id, p.code(), p.globalType().Mutable
		x.Type = typeText(p.instance.program, wasmbinary.Global, p.index)
	case wasmbinary.Tag:
		t := in.store.tags[in.tags[e.Index]]
		x.Code, x.Type = float64(in.tags[e.Index]), t.typ.Key()
		if t.instance != nil {
			x.Instance = t.instance.id
		}
	}
	return x
}

// wasm_start(instance) runs its segments and its start function
func startInstance(s *store, _ *engine.Call, in *instance) (any, error) {
	// segments and start function, in the order of the standard
	for _, name := range []string{rewrite.FnElems, rewrite.FnData} {
		if err := in.run(name, nil); err != nil {
			return nil, s.failure(err)
		}
	}
	if in.program.Start == wasmbinary.NoRef {
		return engine.Undefined, nil
	}
	_, err := s.call(function{in, uint32(in.program.Start)}.resolve(), nil)
	return engine.Undefined, err
}

// wasm_call(function, …) -> its result, or an array of its results
func callExport(s *store, c *engine.Call, fn function) (any, error) {
	return s.call(fn, func(i int) engine.Value { return c.Arg(i + 1) })
}

// wasm_type(function) -> Key of its signature
func functionType(_ *store, _ *engine.Call, fn function) (any, error) {
	return fn.typ().Key(), nil
}

// newOwnInstance makes an instance of a module of this package's own.
func (s *store) newOwnInstance(module []byte) (*instance, error) {
	p, err := s.set.runtime.compile(s.ctx, module)
	if err != nil {
		return nil, err
	}
	in, err := s.newInstance(p, nil)
	if err != nil {
		s.set.runtime.release(s.ctx, p)
		return nil, err
	}
	in.owns = true
	return in, nil
}

// wasm_memory(initial, maximum or null, whether it is shared) -> number of an instance
func newMemory(s *store, c *engine.Call) (any, error) {
	l := wasmbinary.Limits{Min: uint32(c.Int(0))}
	if !c.IsNullish(1) {
		l.Max, l.HasMax = uint32(c.Int(1)), true
	}
	l.Shared = c.Bool(2)
	return instanceID(s.newOwnInstance(rewrite.MemoryModule(l)))
}

// wasm_buffer(instance) -> an ArrayBuffer over its memory, or a SharedArrayBuffer
func buffer(_ *store, _ *engine.Call, in *instance) (any, error) {
	return in.region.Alias(in.program.Memory.Shared)
}

// wasm_maximum(instance) -> bytes that its memory may grow to, or null
func maximum(_ *store, _ *engine.Call, in *instance) (any, error) {
	if m := in.program.Memory; m.HasMax {
		return float64(uint64(m.Max) * pageSize), nil
	}
	return nil, nil
}

// wasm_address(instance) -> where its memory is
func memoryAddress(_ *store, _ *engine.Call, in *instance) (any, error) {
	return float64(in.region.At()), nil
}

// maxBuffer is the maximum number of bytes of a buffer of the engine.
const maxBuffer = math.MaxInt32 &^ (pageSize - 1)

// wasm_point(instance, buffer) -> bytes of its memory now: the buffer may be resized to them, until wasm_settle
func point(_ *store, c *engine.Call, in *instance) (any, error) {
	in.region.Point(c.Arg(1), maxBuffer)
	return float64(in.region.Size()), nil
}

// wasm_settle(instance, buffer, most bytes that it can be resized to, or null)
func settle(_ *store, c *engine.Call, in *instance) (any, error) {
	most := int32(-1)
	if !c.IsNullish(2) {
		most = int32(min(c.Float(2), maxBuffer))
	}
	c.VM().Settle(c.Arg(1), in.program.Memory.Shared, most)
	return engine.Undefined, nil
}

// wasm_detach(buffer)
func detach(_ *store, c *engine.Call) (any, error) {
	c.VM().Detach(c.Arg(0))
	return engine.Undefined, nil
}

// wasm_grow(instance, pages) -> pages before, or null
func growMemory(s *store, c *engine.Call, in *instance) (any, error) {
	n := c.Float(1)
	if n > math.MaxUint16+1 {
		return nil, nil
	}
	had, ok := in.mod.Memory().Grow(uint32(n))
	if !ok {
		return nil, nil
	}
	return int(had), s.flush()
}

// wasm_table("F" or "x", maximum or null) -> number of an instance, with a table of no elements
func newTable(s *store, c *engine.Call) (any, error) {
	t := wasmbinary.TableType{Elem: wasmbinary.TypeOf(c.String(0))}
	if !c.IsNullish(1) {
		t.Max, t.HasMax = uint32(c.Int(1)), true
	}
	return instanceID(s.newOwnInstance(rewrite.TableModule(t)))
}

// wasm_table_size(table) -> elements
func tableSize(_ *store, _ *engine.Call, t address) (any, error) {
	n, err := t.size()
	return int(n), err
}

// wasm_table_get(table, at) -> reference, see store.toWasm
func tableGet(s *store, c *engine.Call, t address) (any, error) {
	ref, err := t.get(uint32(c.Int(1)))
	if err != nil {
		return nil, err
	}
	return s.toJS(t.typ().Elem, ref)
}

// wasm_table_set(table, at, reference)
func tableSet(s *store, c *engine.Call, t address) (any, error) {
	ref, err := s.toWasm(t.instance, t.typ().Elem, c.Arg(2))
	if err != nil {
		return nil, err
	}
	return engine.Undefined, t.set(uint32(c.Int(1)), ref)
}

// wasm_table_grow(table, n, reference) -> elements before, or -1
func tableGrow(s *store, c *engine.Call, t address) (any, error) {
	ref, err := s.toWasm(t.instance, t.typ().Elem, c.Arg(2))
	if err != nil {
		return nil, err
	}
	n, err := t.grow(ref, uint32(c.Int(1)))
	return int(n), err
}

// wasm_global(type's letter, mutable, value) -> number of an instance, with a global
func newGlobal(s *store, c *engine.Call) (any, error) {
	g := wasmbinary.GlobalType{Type: wasmbinary.TypeOf(c.String(0)), Mutable: c.Bool(1)}
	isRef := g.Type == wasmbinary.Funcref || g.Type == wasmbinary.Externref
	var bits uint64
	if !isRef && g.Type != wasmbinary.V128 {
		var err error
		if bits, err = s.toWasm(nil, g.Type, c.Arg(2)); err != nil {
			return nil, err
		}
	}
	return instanceID(s.newOwnInstance(rewrite.GlobalModule(g, bits)))
}

// wasm_global_get(global) -> value
func globalGet(s *store, _ *engine.Call, g address) (any, error) {
	return s.toJS(g.globalType().Type, g.global().Get())
}

// wasm_global_set(global, value)
func globalSet(s *store, c *engine.Call, g address) (any, error) {
	m, ok := g.global().(api.MutableGlobal)
	if !ok {
		return nil, engine.TypeError("set WebAssembly.Global.value: Can't set the value of an immutable global.")
	}
	bits, err := s.toWasm(g.instance, g.globalType().Type, c.Arg(1))
	if err != nil {
		return nil, err
	}
	m.Set(bits)
	return engine.Undefined, nil
}

// wasm_collect() runs the garbage collector
func collect(s *store, _ *engine.Call) (any, error) {
	s.vm.Collect()
	return engine.Undefined, nil
}

// wasm_externs() -> the slots of externrefs in tables and globals, or null during a call, which may hold others
func liveExterns(s *store, _ *engine.Call) (any, error) {
	if s.depth > 0 {
		return nil, nil
	}
	live := map[uint32]struct{}{}
	for _, in := range s.instances {
		for _, g := range in.globals[in.program.ImportedGlobals:] {
			if g.globalType().Type == wasmbinary.Externref {
				live[uint32(g.global().Get())] = struct{}{}
			}
		}
		for _, t := range in.tables[in.program.ImportedTables:] {
			if t.typ().Elem != wasmbinary.Externref {
				continue
			}
			if err := t.each(func(ref uint64) { live[uint32(ref)] = struct{}{} }); err != nil {
				return nil, err
			}
		}
	}
	for _, b := range s.boxes {
		for i, t := range rewrite.Payload(s.tags[b.tag].typ) {
			if t == wasmbinary.Externref && i < len(b.values) {
				live[uint32(b.values[i])] = struct{}{}
			}
		}
	}
	list := make([]any, 0, len(live))
	for slot := range live {
		list = append(list, int(slot))
	}
	return list, nil
}
