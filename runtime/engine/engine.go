// Package engine runs JavaScript: QuickJS-NG compiled to WebAssembly and translated to Go (package quickjs), as isolates that
// start from a stored image in a fraction of a millisecond.
//
// An [Engine] holds the parts that isolates share; one serves a process. [Engine.Boot] evaluates a prelude in a fresh virtual machine and
// keeps the memory as an [Image]. An [Isolate] is a virtual machine started from an image, with one goroutine that runs its event loop;
// [Isolate.Do] runs a turn of it. Each turn runs on behalf of a [Scope], which carries the CPU budget: a turn over its budget is ended at
// once, at any point, and the isolate starts over from its image. JavaScript reaches Go through host functions ([Func]).
//
// The build tag wazero_engine runs the same module in wazero (machine_wazero.go), for comparison. Images are the same.
//
// In: source text and Go values. Out: Go values and exceptions as [*Error]; a turn that was ended
// is a [*KilledError]. Engine and Isolate are safe for concurrent use; VM, Call and Value belong to
// the turn that received them. The package knows nothing of HTTP, of web standards or of bindings.
package engine

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// DefaultMemoryLimit bounds the heap of an isolate, in bytes: the platform's 128 MB.
	DefaultMemoryLimit = 128 << 20

	// memoryHeadroom is the part of linear memory beside the JavaScript heap and
	// the regions: the C stack, static data, allocator slack.
	memoryHeadroom = 16 << 20
	pageSize       = 64 << 10
)

// Options configure an engine. The zero value works.
type Options struct {
	// Now is the clock of Date. Default: time.Now.
	Now func() time.Time
	// Memory is Go's quota for the Workers of all engines that share it. Default: a quota of
	// DefaultHostMemory bytes for this engine.
	Memory *HostMemory
}

// Engine is the compiled module.
type Engine struct {
	now      func() time.Time
	memory   *HostMemory
	code     *code
	offloads chan struct{} // one item for each running Call.Offload
	buffers  sync.Pool     // of *[]byte, for text that is converted

	mu       sync.Mutex
	isolates map[*Isolate]struct{} // that are open; nil after Close
}

// Open opens an engine. The error is ErrNoArtifact, or a fault of this package.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{now: o.Now, memory: o.Memory, isolates: map[*Isolate]struct{}{}, offloads: make(chan struct{}, maxOffloads)}
	if e.now == nil {
		e.now = time.Now
	}
	if e.memory == nil {
		e.memory = NewHostMemory(0)
	}
	var err error
	if e.code, err = newCode(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// Close ends the open isolates, then frees their code.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	open := e.isolates
	e.isolates = nil
	e.mu.Unlock()
	for i := range open {
		i.Close()
	}
	return e.code.close(ctx)
}

// Share is the part of Options.Memory that one Worker may hold.
func (e *Engine) Share() *HostMemory { return e.memory.Share() }

// AddressSpaceError means that the system has no addresses left for the memory of an isolate.
type AddressSpaceError struct {
	Size uint64 // bytes of addresses that it reserves
	Err  error
}

func (e *AddressSpaceError) Error() string {
	return fmt.Sprintf("the system has no room for an isolate, which reserves %d MB of addresses: %v", e.Size>>20, e.Err)
}

// Unwrap returns Err.
func (e *AddressSpaceError) Unwrap() error { return e.Err }
