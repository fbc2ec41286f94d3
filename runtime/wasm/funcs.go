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

// maxValidate is the most bytes of a module that WebAssembly.validate looks at: what is
// made of them takes up to 600 times as much memory.
const maxValidate = 256 << 10

// Names returns the names of the host functions, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Funcs())) }

// Funcs returns the host functions by name. What each takes and gives stands where
// it is written, as in "wasm_load(specifier) -> number of a module".
//
// They call these entry points of the prelude: wasmCall(instance, import, …) calls
// an imported function, wasmGrown(instance) tells of a memory that grew, wasmLost()
// is the numbers of instances that JavaScript has no way to any more,
// wasmError(class, message) is an error of WebAssembly's own,
// wasmThrown(tag, types, instance, …) an exception of a tag that is the instance's,
// wasmCaught(value) what an instance may know of what was thrown: null when it may
// not catch it, [tag, …] of an exception, [] of anything else; and wasmSlot(value)
// is the value as an externref.
func Funcs() map[string]engine.Func {
	all := map[string]engine.Func{}
	for name, f := range map[string]func(s *store, c *engine.Call) (any, error){
		"wasm_load": load, "wasm_describe": describe, "wasm_customs": customs, "wasm_validate": validate,
		"wasm_instantiate": instantiate, "wasm_exports": exports, "wasm_start": startInstance,
		"wasm_call": callExport, "wasm_type": functionType,
		"wasm_memory": newMemory, "wasm_buffer": buffer, "wasm_detach": detach, "wasm_grow": growMemory,
		"wasm_table": newTable, "wasm_table_size": tableSize, "wasm_table_get": tableGet, "wasm_table_set": tableSet, "wasm_table_grow": tableGrow,
		"wasm_global": newGlobal, "wasm_global_get": globalGet, "wasm_global_set": globalSet,
		"wasm_tag":     newTag,
		"wasm_externs": liveExterns, "wasm_collect": collect,
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

// withClass makes errors of WebAssembly's own classes objects of them.
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
func describe(s *store, c *engine.Call) (any, error) {
	p, err := s.module(int(c.Int(0)))
	if err != nil {
		return nil, err
	}
	imports, exports := []descriptor{}, []descriptor{}
	for _, d := range p.Imports {
		imports = append(imports, descriptor{Module: &d.Module, Name: d.Name, Kind: d.Kind.String(), Type: typeText(p, d.Kind, d.Index)})
	}
	for _, e := range p.Exports {
		exports = append(exports, descriptor{Name: e.Name, Kind: e.Kind.String()})
	}
	return asJSON([2][]descriptor{imports, exports})
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

func asJSON(value any) (any, error) {
	text, err := json.Marshal(value)
	return json.RawMessage(text), err
}

// wasm_customs(module, name) -> [bytes]
func customs(s *store, c *engine.Call) (any, error) {
	p, err := s.module(int(c.Int(0)))
	if err != nil {
		return nil, err
	}
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
		return nil, &engine.Error{Name: "RangeError", Message: fmt.Sprintf("WebAssembly.validate(): %d bytes are more than the %d that can be validated here", len(module), maxValidate)}
	}
	return c.Offload(func() (any, error) { return s.set.runtime.check(s.ctx, module) == nil, nil })
}

// wasm_instantiate(module, links) -> number of an instance; the links are what
// its imports come from: see store.newInstance
func instantiate(s *store, c *engine.Call) (any, error) {
	p, err := s.module(int(c.Int(0)))
	if err != nil {
		return nil, err
	}
	list, _ := c.Value(1).([]any)
	links := make([]int64, len(list))
	for i, x := range list {
		n, _ := x.(float64)
		links[i] = int64(n)
	}
	in, err := s.newInstance(p, links)
	if err != nil {
		return nil, err
	}
	return in.id, nil
}

// exported is an export of an instance: code and instance are where it is; a tag's
// code is its number.
type exported struct {
	Name     string  `json:"name"`
	Kind     byte    `json:"kind"`
	Instance int     `json:"instance"`
	Code     float64 `json:"code"`
	Type     string  `json:"type"`
	Mutable  bool    `json:"mutable"`
}

// wasm_exports(instance) -> [exported]
func exports(s *store, c *engine.Call) (any, error) {
	in, err := s.instance(int(c.Int(0)))
	if err != nil {
		return nil, err
	}
	list := make([]exported, 0, len(in.program.Exports))
	for _, e := range in.program.Exports {
		list = append(list, in.exported(e))
	}
	return asJSON(list)
}

func (in *instance) exported(e wasmbinary.Export) exported {
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
func startInstance(s *store, c *engine.Call) (any, error) {
	in, err := s.instance(int(c.Int(0)))
	if err != nil {
		return nil, err
	}
	return engine.Undefined, s.initialize(in)
}

// wasm_call(function, …) -> its result, or an array of its results
func callExport(s *store, c *engine.Call) (any, error) {
	f, err := s.function(c.Int(0))
	if err != nil {
		return nil, err
	}
	return s.call(f, func(i int) engine.Value { return c.Arg(i + 1) })
}

// wasm_type(function) -> Key of its signature
func functionType(s *store, c *engine.Call) (any, error) {
	f, err := s.function(c.Int(0))
	if err != nil {
		return nil, err
	}
	return f.typ().Key(), nil
}

// newOwnInstance is an instance of a module that JavaScript did not give.
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

// limitsOf are the arguments at and after at: a minimum and a maximum, or null.
func limitsOf(c *engine.Call, at int) wasmbinary.Limits {
	l := wasmbinary.Limits{Min: uint32(c.Int(at))}
	if !c.IsNullish(at + 1) {
		l.Max, l.HasMax = uint32(c.Int(at+1)), true
	}
	return l
}

// wasm_memory(initial, maximum or null) -> number of an instance
func newMemory(s *store, c *engine.Call) (any, error) {
	in, err := s.newOwnInstance(rewrite.MemoryModule(limitsOf(c, 0)))
	if err != nil {
		return nil, err
	}
	return in.id, nil
}

// memory is the instance that the first argument names, which has a memory.
func (s *store) memory(c *engine.Call) (*instance, error) {
	in, err := s.instance(int(c.Int(0)))
	if err == nil && in.region == nil {
		err = engine.TypeError("instance %d has no memory", in.id)
	}
	return in, err
}

// wasm_buffer(instance) -> an ArrayBuffer over its memory
func buffer(s *store, c *engine.Call) (any, error) {
	in, err := s.memory(c)
	if err != nil {
		return nil, err
	}
	return in.region.Alias()
}

// wasm_detach(buffer)
func detach(_ *store, c *engine.Call) (any, error) {
	c.VM().Detach(c.Arg(0))
	return engine.Undefined, nil
}

// wasm_grow(instance, pages) -> pages before, or null
func growMemory(s *store, c *engine.Call) (any, error) {
	in, err := s.memory(c)
	if err != nil {
		return nil, err
	}
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

// wasm_table("F" or "x", maximum or null) -> number of an instance, with a table
// of no elements
func newTable(s *store, c *engine.Call) (any, error) {
	t := wasmbinary.TableType{Elem: valType(c.String(0))}
	if !c.IsNullish(1) {
		t.Max, t.HasMax = uint32(c.Int(1)), true
	}
	in, err := s.newOwnInstance(rewrite.TableModule(t))
	if err != nil {
		return nil, err
	}
	return in.id, nil
}

func valType(letter string) wasmbinary.ValType {
	switch letter {
	case "i":
		return wasmbinary.I32
	case "I":
		return wasmbinary.I64
	case "f":
		return wasmbinary.F32
	case "d":
		return wasmbinary.F64
	case "F":
		return wasmbinary.Funcref
	case "v":
		return wasmbinary.V128
	case "e":
		return wasmbinary.Exnref
	}
	return wasmbinary.Externref
}

// table is the table that the first argument is the code of.
func (s *store) table(c *engine.Call) (place, error) {
	in, index, err := s.decode(c.Int(0))
	if err == nil && int(index) >= len(in.tables) {
		err = engine.TypeError("there is no table %d", index)
	}
	if err != nil {
		return place{}, err
	}
	return in.tables[index], nil
}

// wasm_table_size(table) -> elements
func tableSize(s *store, c *engine.Call) (any, error) {
	t, err := s.table(c)
	if err != nil {
		return nil, err
	}
	n, err := t.size()
	return int(n), err
}

// wasm_table_get(table, at) -> reference, see store.toWasm
func tableGet(s *store, c *engine.Call) (any, error) {
	t, err := s.table(c)
	if err != nil {
		return nil, err
	}
	ref, err := t.get(uint32(c.Int(1)))
	if err != nil {
		return nil, err
	}
	return s.toJS(t.typ().Elem, ref)
}

// wasm_table_set(table, at, reference)
func tableSet(s *store, c *engine.Call) (any, error) {
	t, err := s.table(c)
	if err != nil {
		return nil, err
	}
	ref, err := s.toWasm(t.instance, t.typ().Elem, c.Arg(2))
	if err != nil {
		return nil, err
	}
	return engine.Undefined, t.set(uint32(c.Int(1)), ref)
}

// wasm_table_grow(table, n, reference) -> elements before, or -1
func tableGrow(s *store, c *engine.Call) (any, error) {
	t, err := s.table(c)
	if err != nil {
		return nil, err
	}
	ref, err := s.toWasm(t.instance, t.typ().Elem, c.Arg(2))
	if err != nil {
		return nil, err
	}
	n, err := t.grow(ref, uint32(c.Int(1)))
	return int(n), err
}

// wasm_global(type's letter, mutable, value) -> number of an instance, with a global
func newGlobal(s *store, c *engine.Call) (any, error) {
	g := wasmbinary.GlobalType{Type: valType(c.String(0)), Mutable: c.Bool(1)}
	isRef := g.Type == wasmbinary.Funcref || g.Type == wasmbinary.Externref
	var bits uint64
	if !isRef && g.Type != wasmbinary.V128 {
		var err error
		if bits, err = s.toWasm(nil, g.Type, c.Arg(2)); err != nil {
			return nil, err
		}
	}
	in, err := s.newOwnInstance(rewrite.GlobalModule(g, bits))
	if err != nil {
		return nil, err
	}
	return in.id, nil
}

// globalAt is the global that the first argument is the code of, which is no v128.
func (s *store) globalAt(c *engine.Call) (place, error) {
	in, index, err := s.decode(c.Int(0))
	if err == nil && int(index) >= len(in.globals) {
		err = engine.TypeError("there is no global %d", index)
	}
	if err != nil {
		return place{}, err
	}
	g := in.globals[index]
	if g.globalType().Type == wasmbinary.V128 {
		return place{}, engine.TypeError("a v128 global has no value in JavaScript")
	}
	return g, nil
}

// wasm_global_get(global) -> value
func globalGet(s *store, c *engine.Call) (any, error) {
	g, err := s.globalAt(c)
	if err != nil {
		return nil, err
	}
	return s.toJS(g.globalType().Type, g.global().Get())
}

// wasm_global_set(global, value)
func globalSet(s *store, c *engine.Call) (any, error) {
	g, err := s.globalAt(c)
	if err != nil {
		return nil, err
	}
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

// wasm_externs() -> the slots of externrefs that tables and globals hold, or null
// while a call is on the way that may hold others
func liveExterns(s *store, _ *engine.Call) (any, error) {
	if s.depth > 0 {
		return nil, nil
	}
	live := map[uint32]struct{}{}
	for _, in := range s.instances {
		for i := range in.program.Globals {
			if g := (place{in, uint32(i)}); i >= in.program.ImportedGlobals && g.globalType().Type == wasmbinary.Externref {
				live[uint32(g.global().Get())] = struct{}{}
			}
		}
		for i := range in.program.Tables {
			if i < in.program.ImportedTables || in.program.Tables[i].Elem != wasmbinary.Externref {
				continue
			}
			if err := (place{in, uint32(i)}).externs(live); err != nil {
				return nil, err
			}
		}
	}
	s.boxedExterns(live)
	list := make([]any, 0, len(live))
	for slot := range live {
		list = append(list, int(slot))
	}
	return list, nil
}

// externs notes the slots in a table.
func (p place) externs(live map[uint32]struct{}) error {
	n, err := p.size()
	for at := uint32(0); at < n && err == nil; at++ {
		var ref uint64
		if ref, err = p.get(at); err == nil {
			live[uint32(ref)] = struct{}{}
		}
	}
	return err
}
