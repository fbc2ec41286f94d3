package wasm

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// Source is a module that a Worker imports.
type Source struct {
	// Specifier is the name in the Worker's import.
	Specifier string
	Bytes     []byte
}

// Set is the compiled modules of one Worker. Close it after its isolates.
type Set struct {
	runtime *Runtime
	modules map[string]loaded

	mu     sync.Mutex
	pinned []*program // that images refer to
}

// loaded is a compiled module, or the error of its compilation.
type loaded struct {
	program *program
	err     error
}

// Load compiles the modules, at the same time. A module that cannot be compiled
// is an error only where JavaScript imports it.
func (r *Runtime) Load(ctx context.Context, sources []Source) *Set {
	s := &Set{runtime: r, modules: map[string]loaded{}}
	results := make([]loaded, len(sources))
	var work sync.WaitGroup
	for n, source := range sources {
		work.Go(func() { results[n].program, results[n].err = r.compile(ctx, source.Bytes) })
	}
	work.Wait()
	if slices.ContainsFunc(results, func(l loaded) bool { return l.program != nil && l.program.Throws }) {
		// Functions that other modules put into the tables of these may raise exceptions.
		for n, source := range sources {
			if p := results[n].program; p != nil && p.Shares && !p.Throws {
				work.Go(func() {
					results[n].program, results[n].err = r.compileAs(ctx, programKey{p.key.sum, true}, source.Bytes)
					r.release(ctx, p)
				})
			}
		}
		work.Wait()
	}
	for n, source := range sources {
		s.modules[source.Specifier] = results[n]
	}
	return s
}

// Close releases the programs.
func (s *Set) Close(ctx context.Context) {
	for _, m := range s.modules {
		if m.program != nil {
			s.runtime.release(ctx, m.program)
		}
	}
	for _, p := range s.pinned {
		s.runtime.release(ctx, p)
	}
}

// pin keeps a program until Close.
func (s *Set) pin(p *program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.pinned, p) {
		s.runtime.retain(p)
		s.pinned = append(s.pinned, p)
	}
}

// Modules are the JavaScript sources of the modules: each has a WebAssembly.Module as its default export, or throws a
// CompileError.
func (s *Set) Modules() map[string]string {
	all := map[string]string{}
	for specifier := range s.modules {
		all[specifier] = fmt.Sprintf("export default globalThis[Symbol.for(%q)](%q);\n", "pages.wasm", specifier)
	}
	return all
}

// Companion makes the state of one VM; saved is the saved state of the companion of its image's VM, or nil.
func (s *Set) Companion(vm *engine.VM, saved any) engine.Companion {
	c := &store{
		set: s, vm: vm, instances: map[int]*instance{}, refs: map[uint64]function{}, boxes: map[uint32]*box{},
		sweepAt: leastSweep, sweepOver: sweepBytes, lastTag: jsTag,
		tags: map[uint32]tag{jsTag: {typ: wasmbinary.FuncType{Params: []wasmbinary.ValType{wasmbinary.Externref}}}},
	}
	c.ctx = context.WithValue(vm.Context(), storeKey{}, c)
	if state, ok := saved.(*image); ok && state != nil {
		c.saved, c.modules, c.last = state, slices.Clone(state.modules), state.last
	}
	return c
}
