// Package runtime runs a site's Worker: it composes the engine, the web globals and the bindings, and serves HTTP
// requests with the Worker's code.
//
// A [Runtime] is booted once per process. A [Worker] is one evaluated bundle in a few isolates; [Worker.Serve] serves one
// request. In: the bundled module and its source map, bindings, limits. Out: HTTP responses, or an [Error] in terms of the
// author's own files. Both types are safe for concurrent use. The package does not listen, watch files or know routes and
// members: it serves every request that it gets.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

// Options configure a Runtime. The zero value works.
type Options struct {
	// CacheDir stores the machine code of Workers' WebAssembly between processes. Default: none.
	CacheDir string
	// Now is the clock of JavaScript and of the log. Default: time.Now.
	Now func() time.Time
	// Memory is the quota of Go's memory for Workers, shared with the pixels of Images. Default: one of its own.
	Memory *HostMemory
}

// HostMemory is a quota of bytes that a process holds outside of its isolates for Workers.
type HostMemory = engine.HostMemory

// NewHostMemory returns one of the usual size, engine.DefaultHostMemory.
func NewHostMemory() *HostMemory { return engine.NewHostMemory(0) }

// Runtime is the booted engine. Close it after its Workers.
type Runtime struct {
	engine     *engine.Engine
	wasm       *wasm.Runtime
	cacheError error // see CacheError
	image      *engine.Image
	now        func() time.Time
}

// Open opens the engine and boots the prelude. An unusable cache is not an error: see [Runtime.CacheError]. Errors:
// engine.ErrNoArtifact, or a fault of this package.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	source, err := prelude()
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, engine.Options{Now: o.Now, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	image, err := boot(ctx, e, source)
	if err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	modules, err := wasm.Open(ctx, wasm.Options{CacheDir: o.CacheDir})
	cacheError := err
	if err != nil && o.CacheDir != "" {
		modules, err = wasm.Open(ctx, wasm.Options{})
	}
	if err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &Runtime{engine: e, wasm: modules, cacheError: cacheError, image: image, now: now}, nil
}

// CacheError is the reason why the folder of machine code cannot be used; nil if it is in use, or not set.
func (r *Runtime) CacheError() error { return r.cacheError }

// Close frees the engine.
func (r *Runtime) Close(ctx context.Context) error {
	return errors.Join(r.engine.Close(ctx), r.wasm.Close(ctx))
}

// hostNames are the host functions that the prelude is bound to.
func hostNames() []string {
	names := slices.Concat(web.Names(), binding.Names(), node.Names(), wasm.Names())
	slices.Sort(names)
	return names
}

// LimitMode is the effect of a limit.
type LimitMode = web.LimitMode

// The modes of `--limits`.
const (
	Enforce = web.LimitEnforce // the request ends
	Warn    = web.LimitWarn    // the log has a warning
	Off     = web.LimitOff
)

// Limits are the manifest's (platform document, section 2.9).
type Limits struct {
	CPU         time.Duration // of one request, over its turns in the engine
	SubRequests int
	// ResponseBytes bounds the body of a response. Default 512 MiB.
	ResponseBytes int64
	Mode          LimitMode // default Enforce
	// CPUScale multiplies CPU: pure JavaScript runs slower here than on the
	// platform. Default 1.
	CPUScale float64
}

func (l Limits) scale() float64 {
	if l.CPUScale <= 0 {
		return 1
	}
	return l.CPUScale
}

// Budget is the CPU time after which a request is ended; 0 means never.
func (l Limits) Budget() time.Duration {
	if l.Mode == Warn || l.Mode == Off {
		return 0
	}
	return l.CPUTime()
}

// CPUTime is the CPU time that a request may use on this machine.
func (l Limits) CPUTime() time.Duration { return time.Duration(float64(l.CPU) * l.scale()) }

// errStart is the error of a Worker that could not be started.
func errStart(err error) error {
	if room, full := errors.AsType[*engine.AddressSpaceError](err); full {
		return addressSpaceError(room)
	}
	return fmt.Errorf("start the worker: %w", err)
}
