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
	"errors"
	"fmt"
	"runtime"
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
	cacheError error // why the cache is not used
	module     wazero.CompiledModule
	offloads   chan struct{} // holds one for each running Call.Offload
	buffers    sync.Pool     // of *[]byte, for text on its way

	mu       sync.Mutex
	isolates map[*Isolate]struct{} // those not closed yet; nil once Close was called
}

// Open compiles the embedded engine or takes it from the cache, without which it goes as well: see
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
	unkept := err
	o.CacheDir = ""
	if e, err = open(ctx, o, wasm); err != nil {
		return nil, err
	}
	e.cacheError = unkept
	return e, nil
}

// CacheError is why the cache folder cannot be used; nil when it is, or when there is to be none.
func (e *Engine) CacheError() error { return e.cacheError }

// open sets wazero up. A third of what pure JavaScript takes is its asking at each
// access whether that lies in the memory (1.12; a build that does not ask shows it).
// A pass that made checks wider, so that one stands for several, gained nothing.
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

// Close ends the isolates that are still open, then frees the machine code: no
// isolate may run on code and memory that are gone.
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

// Share is the part of what Go may hold for Workers that one of them may have.
func (e *Engine) Share() *HostMemory { return e.memory.Share() }

// register starts an isolate that Close will end. After Close there are none.
func (e *Engine) register(i *Isolate) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isolates == nil {
		return ErrClosed
	}
	if err := i.renew(); err != nil {
		return err
	}
	e.isolates[i] = struct{}{}
	i.work.Go(i.loop)
	return nil
}

func (e *Engine) unregister(i *Isolate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.isolates, i)
}

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

// instantiate makes a module instance; its host functions reach the VM in ctx. An allocator
// of wazero's has no error to return, so that it panics.
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
