// Package wasm is WebAssembly for Workers: it compiles the modules that a Worker imports and runs their instances on the
// memory of the isolate.
//
// A [Runtime] is the compiled machine code; one serves a process, and modules of the same bytes are compiled once, also
// between processes. A [Set] is the modules of one Worker. [Set.Companion] makes the state that one virtual machine has here:
// its instances, which JavaScript (js) reaches by number through the host functions of [Funcs].
//
// The linear memory of an instance is a region of the engine's own linear memory, so JavaScript's ArrayBuffer and the instance
// always see the same bytes, even during an import: wazero lets its host choose the bytes of a memory. Copies would cost time
// in every call, and adding a base to each address would slow all code. An image of the isolate contains them; state outside
// of memory (globals, tables) is saved beside it, and an isolate from the image recreates instances on first use. Code runs in
// the rewritten form of the package rewrite: it stops at the budget of the turn, and at its own bounds of stack. Exceptions
// are values there (exception.go); in a Worker with a module that throws, modules that could get its functions into their
// tables are rewritten to pass exceptions on.
//
// Assumptions where the platform document is open: modules come from imports only; heap, memories, tables and instances
// share the Worker's 128 MB (engine.DefaultMemoryLimit); calls go as deep as an estimate of their stack fits into 2 MB
// (stackSize).
//
// In: the bytes of modules. Out: instances for JavaScript; errors go there as CompileError, LinkError, RuntimeError,
// RangeError and TypeError. Runtime and Set are safe for concurrent use; a companion belongs to its isolate's goroutine.
package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
)

const (
	// maxModule bounds one module, in bytes.
	maxModule = 64 << 20
	// keepIdle is the number of programs without a Worker that stay compiled: after an edit, most modules are the same.
	keepIdle = 8
)

// features are those of the platform's engine that wazero can run.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesThreads |
	experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// Options configure a Runtime. The zero value works.
type Options struct {
	// CacheDir stores compiled machine code between processes. Default: none.
	CacheDir string
}

// Runtime is the compiler and its compiled modules. Close it after its Sets and the
// isolates that use them.
type Runtime struct {
	wazero wazero.Runtime
	cache  wazero.CompilationCache
	dir    string // of the cache

	checking sync.Mutex // see check

	mu       sync.Mutex
	programs map[programKey]*program
	idle     []*program          // without a user, oldest first
	calls    map[string]struct{} // signatures, and modules of tags, whose host functions are linked
}

// Open makes a Runtime. The error means an unusable cache folder.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(features).WithDebugInfoEnabled(false)
	r := &Runtime{programs: map[programKey]*program{}, calls: map[string]struct{}{}}
	if o.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(o.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the compile cache: %w", err)
		}
		r.cache, r.dir = cache, o.CacheDir
		config = config.WithCompilationCache(cache)
	}
	r.wazero = wazero.NewRuntimeWithConfig(ctx, config)
	if err := r.linkHost(ctx); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// Close frees the machine code.
func (r *Runtime) Close(ctx context.Context) error {
	err := r.wazero.Close(ctx)
	if r.cache != nil {
		err = errors.Join(err, r.cache.Close(ctx))
	}
	return err
}

// program is a compiled module.
type program struct {
	*rewrite.Module
	key       programKey
	compiled  wazero.CompiledModule
	users     int
	positions map[int]int // of functions in Refs, the first of each
}

// programKey is the module of a program, and whether rewrite.Lower made it.
type programKey struct {
	sum     [sha256.Size]byte
	lowered bool
}

// compile returns the program of a module, to be released. Errors: a CompileError for JavaScript, or that ctx ended.
func (r *Runtime) compile(ctx context.Context, module []byte) (*program, error) {
	return r.compileAs(ctx, programKey{sha256.Sum256(module), false}, module)
}

func (r *Runtime) compileAs(ctx context.Context, key programKey, module []byte) (*program, error) {
	if p := r.cachedProgram(key); p != nil {
		return p, nil
	}
	if len(module) > maxModule {
		return nil, compileError(fmt.Errorf("the module has %d bytes, more than %d", len(module), maxModule))
	}
	form := rewrite.Rewrite
	if key.lowered {
		form = rewrite.Lower
	}
	m, err := form(module)
	if err != nil {
		return nil, compileError(err)
	}
	p := &program{Module: m, key: key, users: 1, positions: map[int]int{}}
	for at, fn := range m.Refs {
		if _, known := p.positions[fn]; !known {
			p.positions[fn] = at
		}
	}
	if err := r.linkCalls(ctx, m); err != nil {
		return nil, compileError(err)
	}
	p.compiled, err = recoverPanic(func() (wazero.CompiledModule, error) {
		return compileCached(r, func() (wazero.CompiledModule, error) {
			return r.wazero.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), m.Bytes)
		})
	})
	if err != nil {
		return nil, compileError(err)
	}
	p.Bytes = nil // to free them
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.programs[key]; other != nil { // compiled at the same time
		other.users++
		return other, nil
	}
	r.programs[key] = p
	return p, nil
}

// check returns the reason why a module cannot be compiled, without the compiler, whose time may be quadratic in a
// function's length. wazero's interpreter takes time proportional to the length, and checks the same rules.
func (r *Runtime) check(ctx context.Context, module []byte) error {
	r.checking.Lock() // one at a time, since it takes much memory
	defer r.checking.Unlock()
	m, err := rewrite.Rewrite(module)
	if err != nil {
		return err
	}
	reader := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithDebugInfoEnabled(false))
	_, err = recoverPanic(func() (wazero.CompiledModule, error) { return reader.CompileModule(ctx, m.Bytes) })
	return errors.Join(err, reader.Close(ctx))
}

// recoverPanic compiles and returns a panic of the compiler as an error.
func recoverPanic(compile func() (wazero.CompiledModule, error)) (m wazero.CompiledModule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the compiler failed: %v", p)
		}
	}()
	return compile()
}

// instantiate makes an instance of a module of this package's own.
func (r *Runtime) instantiate(ctx context.Context, module []byte) (api.Module, error) {
	return compileCached(r, func() (api.Module, error) {
		return r.wazero.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
	})
}

// compileCached compiles, and again after two errors of the cache. If the disk is full, compile fails although the code was
// compiled, and finds it in memory the second time; a damaged entry is removed.
func compileCached[T any](r *Runtime, compile func() (T, error)) (T, error) {
	result, err := compile()
	if _, ok := errors.AsType[syscall.Errno](err); ok || clearDamaged(r.dir, err) {
		return compile()
	}
	return result, err
}

// clearDamaged empties the compile cache in dir if err, from a compilation with it, is about a damaged entry. It reports whether it did:
// then the caller compiles again.
func clearDamaged(dir string, err error) bool {
	// wazero has no type for the error, but all of its texts about the cache begin like this.
	if dir == "" || err == nil || !strings.Contains(err.Error(), "compilationcache: ") {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	entries, err := fs.Glob(root.FS(), "wazero-*/*")
	for _, entry := range entries {
		if err == nil {
			err = root.Remove(entry)
		}
	}
	return err == nil
}

func (r *Runtime) cachedProgram(key programKey) *program {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.programs[key]
	if p == nil {
		return nil
	}
	if p.users++; p.users == 1 {
		r.idle = slices.DeleteFunc(r.idle, func(x *program) bool { return x == p })
	}
	return p
}

// retain adds a user to a program in use.
func (r *Runtime) retain(p *program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.users++
}

// release removes a user. The latest programs without a user stay compiled.
func (r *Runtime) release(ctx context.Context, p *program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.users--; p.users > 0 {
		return
	}
	r.idle = append(r.idle, p)
	if len(r.idle) > keepIdle {
		old := r.idle[0]
		r.idle = r.idle[1:]
		delete(r.programs, old.key)
		_ = old.compiled.Close(ctx) // closing a compiled module cannot fail
	}
}

func compileError(err error) error {
	return &engine.Error{Name: "CompileError", Message: err.Error()}
}
