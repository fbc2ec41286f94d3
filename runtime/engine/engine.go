// Package engine runs JavaScript: QuickJS-NG compiled to WebAssembly, in
// wazero, as isolates that are booted once, stored as an image and started from
// it in a fraction of a millisecond.
//
// An [Engine] is the compiled machine code; one serves a process. [Engine.Boot]
// evaluates a prelude in a fresh virtual machine and keeps the memory as an
// [Image]. An [Isolate] is a virtual machine started from an image, with one
// goroutine that runs its event loop; [Isolate.Do] runs a turn of it. Each turn
// runs on behalf of a [Scope], which carries the CPU budget: a turn over its
// budget is ended at once, wherever it is, and the isolate starts over from its
// image. JavaScript reaches Go through host functions ([Func]).
//
// In: source text and Go values. Out: Go values and exceptions as [*Error]; a
// turn that was ended is a [*KilledError]. Engine and Isolate are safe for
// concurrent use; VM, Call and Value belong to the turn that was given them.
// The package knows nothing of HTTP, of web standards or of bindings.
package engine

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// DefaultMemoryLimit is the most heap an isolate may take, in bytes: the
	// platform's 128 MB.
	DefaultMemoryLimit = 128 << 20

	// memoryHeadroom is what linear memory holds beside the JavaScript heap and
	// the regions: the C stack, static data, allocator slack.
	memoryHeadroom = 16 << 20
	pageSize       = 64 << 10
)

// Options says how to open an engine. The zero value works.
type Options struct {
	// CacheDir keeps compiled machine code between processes. Default: none,
	// each Open compiles anew, as it does where the folder cannot be used.
	CacheDir string
	// Now is the clock of Date. Default: time.Now.
	Now func() time.Time
	// Memory is what Go may hold for the Workers of all engines that share it. Default: one of
	// DefaultHostMemory bytes for this engine alone.
	Memory *HostMemory
}

// Engine is the compiled module.
type Engine struct {
	now        func() time.Time
	memory     *HostMemory
	runtime    wazero.Runtime
	cache      wazero.CompilationCache
	cacheError error // see CacheError
	module     wazero.CompiledModule
	offloads   chan struct{} // one item for each running Call.Offload
	buffers    sync.Pool     // of *[]byte, for text that is converted

	mu       sync.Mutex
	isolates map[*Isolate]struct{} // that are open; nil after Close
}

// Open compiles the embedded engine or takes it from the cache. A cache that cannot be used is no error: see
// [Engine.CacheError]. The error is ErrNoArtifact, or a fault of this package.
func Open(ctx context.Context, o Options) (*Engine, error) {
	wasm, err := artifact()
	if err != nil {
		return nil, err
	}
	e, err := open(ctx, o, wasm)
	if ClearDamaged(o.CacheDir, err) {
		e, err = open(ctx, o, wasm)
	}
	if err == nil || o.CacheDir == "" || ctx.Err() != nil {
		return e, err
	}
	cacheError := err
	o.CacheDir = ""
	if e, err = open(ctx, o, wasm); err != nil {
		return nil, err
	}
	e.cacheError = cacheError
	return e, nil
}

// CacheError is why the cache folder cannot be used; nil if it is used, or if none was asked for.
func (e *Engine) CacheError() error { return e.cacheError }

// open sets wazero up. A third of the time of pure JavaScript goes into wazero's check of the bounds of each access
// (1.12, measured by a build without checks). A pass that joined several checks into one gained nothing.
func open(ctx context.Context, o Options, wasm []byte) (_ *Engine, err error) {
	e := &Engine{now: o.Now, memory: o.Memory, isolates: map[*Isolate]struct{}{}, offloads: make(chan struct{}, maxOffloads)}
	if e.now == nil {
		e.now = time.Now
	}
	if e.memory == nil {
		e.memory = NewHostMemory(0)
	}
	config := wazero.NewRuntimeConfig().
		WithMemoryLimitPages(reserve / pageSize).
		WithDebugInfoEnabled(false)
	if o.CacheDir != "" {
		e.cache, err = wazero.NewCompilationCacheWithDir(o.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the compile cache: %w", err)
		}
		config = config.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := e.link(ctx); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	e.module, err = e.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), wasm)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the engine: %w", err), e.Close(ctx))
	}
	return e, nil
}

// Close ends the isolates that are still open, then frees the machine code under them.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	open := e.isolates
	e.isolates = nil
	e.mu.Unlock()
	for i := range open {
		i.Close()
	}
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}

// Share is the part of Options.Memory that one Worker may hold.
func (e *Engine) Share() *HostMemory { return e.memory.Share() }

// AddressSpaceError says that the system has no addresses left for the memory of an isolate.
type AddressSpaceError struct {
	Size uint64 // bytes of addresses that it reserves
	Err  error
}

func (e *AddressSpaceError) Error() string {
	return fmt.Sprintf("the system has no room for an isolate, which reserves %d MB of addresses: %v", e.Size>>20, e.Err)
}

// Unwrap returns Err.
func (e *AddressSpaceError) Unwrap() error { return e.Err }

// instantiate makes a module instance whose host functions find the VM in ctx. The allocator reports an error by a panic,
// since wazero's interface has no other way.
func (e *Engine) instantiate(ctx context.Context) (_ api.Module, memory *linear, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *AddressSpaceError:
			err = p
		default:
			panic(p)
		}
	}()
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(first, limit uint64) experimental.LinearMemory {
		memory = &linear{LinearMemory: newMemory(first, limit), size: first}
		return memory
	}))
	mod, err := e.runtime.InstantiateModule(ctx, e.module,
		wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(rand.Reader))
	return mod, memory, err
}

// ClearDamaged empties the compile cache in dir if err, of a compilation with it, tells of a damaged entry, and reports
// whether it did: then the caller compiles again.
func ClearDamaged(dir string, err error) bool {
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

// artifacts holds quickjs.wasm once cmd/tools/artifacts has built it; before that
// only a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

// artifact returns the instrumented quickjs.wasm, or ErrNoArtifact.
func artifact() ([]byte, error) {
	b, err := artifacts.ReadFile("artifact/quickjs.wasm")
	if err != nil {
		return nil, ErrNoArtifact
	}
	return b, nil
}
