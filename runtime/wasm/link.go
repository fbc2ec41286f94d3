package wasm

import (
	"fmt"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// link finds the sources of the imports. The error is a LinkError.
func (in *instance) link(links []int64) error {
	p := in.program
	if len(links) != len(p.Imports) {
		return engine.TypeError("%d links for %d imports", len(links), len(p.Imports))
	}
	in.links = map[string]api.Module{}
	for n, d := range p.Imports {
		var err error
		switch d.Kind {
		case wasmbinary.Func:
			err = in.linkFunc(links[n], d.Index)
		case wasmbinary.Memory:
			err = in.linkMemory(links[n], strconv.Itoa(n))
		case wasmbinary.Table:
			err = in.linkTable(links[n], d.Index, strconv.Itoa(n))
		case wasmbinary.Global:
			err = in.linkGlobal(links[n], d.Index, strconv.Itoa(n))
		case wasmbinary.Tag:
			err = in.linkTag(links[n], d.Index)
		}
		if err != nil {
			return &engine.Error{
				Name:    "LinkError",
				Message: fmt.Sprintf("WebAssembly.Instance(): Import #%d %q %q: %s", n, d.Module, d.Name, err),
			}
		}
	}
	for i := p.ImportedTables; i < len(p.Tables); i++ {
		in.tables = append(in.tables, address{in, uint32(i)})
	}
	for i := p.ImportedGlobals; i < len(p.Globals); i++ {
		in.globals = append(in.globals, address{in, uint32(i)})
	}
	if p.Memory != nil && !p.ImportsMemory {
		in.memory = in
	}
	return nil
}

func (in *instance) linkFunc(link int64, index uint32) error {
	if link < 0 {
		in.imports = append(in.imports, function{})
		return nil
	}
	f, err := in.store.function(link)
	if err != nil {
		return err
	}
	if f.typ().Key() != in.program.FuncType(index).Key() {
		return fmt.Errorf("imported function does not match the expected type")
	}
	in.imports = append(in.imports, f)
	return nil
}

func (in *instance) linkMemory(link int64, name string) error {
	from, err := in.store.instance(int(link))
	if err != nil || from.memory == nil {
		return fmt.Errorf("memory import must be a WebAssembly.Memory object")
	}
	want, has := in.program.Memory, from.memory.program.Memory
	if want.Shared != has.Shared {
		return fmt.Errorf("mismatch in shared state of memory, declared = %t, imported = %t", want.Shared, has.Shared)
	}
	if err := checkLimits("memory import", "pages", *want, from.memory.region.Size()/pageSize, *has); err != nil {
		return err
	}
	in.memory = from.memory
	in.links[name] = from.memory.mod
	return nil
}

func (in *instance) linkTable(link int64, index uint32, name string) error {
	from, at, err := in.store.decode(link)
	if err != nil || int(at) >= len(from.tables) {
		return fmt.Errorf("table import requires a WebAssembly.Table")
	}
	t := from.tables[at]
	want, has := in.program.Tables[index], t.typ()
	if want.Elem != has.Elem {
		return fmt.Errorf("imported table does not match the expected type: %s, not %s", has.Elem, want.Elem)
	}
	size, err := t.size()
	if err != nil {
		return err
	}
	if err := checkLimits("table import", "elements", want.Limits, size, has.Limits); err != nil {
		return err
	}
	in.tables = append(in.tables, t)
	in.links[name], err = in.store.adapter(wasmbinary.Table, t)
	return err
}

func (in *instance) linkGlobal(link int64, index uint32, name string) error {
	from, at, err := in.store.decode(link)
	if err != nil || int(at) >= len(from.globals) {
		return fmt.Errorf("global import must be a number, a BigInt, a reference or a WebAssembly.Global object")
	}
	g := from.globals[at]
	want, has := in.program.Globals[index], g.globalType()
	if want.Mutable != has.Mutable {
		return fmt.Errorf("imported global does not match the expected mutability")
	}
	if want.Type != has.Type {
		return fmt.Errorf("imported global does not match the expected type: %s, not %s", has.Type, want.Type)
	}
	in.globals = append(in.globals, g)
	in.links[name], err = in.store.adapter(wasmbinary.Global, g)
	return err
}

// checkLimits compares an imported memory or table with the import's type.
func checkLimits(what, unit string, want wasmbinary.Limits, size uint32, has wasmbinary.Limits) error {
	switch {
	case size < want.Min:
		return fmt.Errorf("%s has %d %s, which is smaller than the declared initial of %d", what, size, unit, want.Min)
	case want.HasMax && !has.HasMax:
		return fmt.Errorf("%s has no maximum limit, expected at most %d", what, want.Max)
	case want.HasMax && has.Max > want.Max:
		return fmt.Errorf("%s has a larger maximum size %d than the module's declared maximum %d", what, has.Max, want.Max)
	}
	return nil
}

// adapter returns a module that exports the table or global at p under the name that imports use. For an instance's first
// table or global it is the instance.
func (s *store) adapter(kind wasmbinary.Kind, p address) (api.Module, error) {
	if p.index == 0 {
		return p.instance.mod, nil
	}
	key := address{index: p.index<<1 | uint32(kind&1)}
	if m := p.instance.adapted[key]; m != nil {
		return m, nil
	}
	in := &instance{store: s, links: map[string]api.Module{"0": p.instance.mod}}
	var module []byte
	if kind == wasmbinary.Table {
		module = rewrite.TableAdapter(p.index, p.typ())
	} else {
		module = rewrite.GlobalAdapter(p.index, p.globalType())
	}
	m, err := s.set.runtime.instantiate(s.withImports(in), module)
	if err == nil {
		p.instance.adapted[key] = m
	}
	return m, err
}
