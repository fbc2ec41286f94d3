package wasm

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Source is a module that a Worker imports.
type Source struct {
	// Specifier is what the Worker's code imports.
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
		for n, source := range sources {
			if p := results[n].program; p != nil && p.Shares && !p.Throws {
				work.Go(func() { results[n] = r.compileLowered(ctx, p, source.Bytes) })
			}
		}
		work.Wait()
	}
	for n, source := range sources {
		s.modules[source.Specifier] = results[n]
	}
	return s
}

// compileLowered compiles a module again, in the form in which functions that other modules put into its tables may raise
// exceptions.
func (r *Runtime) compileLowered(ctx context.Context, p *program, module []byte) (l loaded) {
	l.program, l.err = r.compileAs(ctx, programKey{p.key.sum, true}, module)
	r.release(ctx, p)
	return l
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
	state, _ := saved.(*image)
	return newStore(s, vm, state)
}
