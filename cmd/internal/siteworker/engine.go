package siteworker

import (
	"context"
	"fmt"
	"os"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// The names of the engines.
const (
	BuiltIn = "built-in"
	Workerd = "workerd"
)

// Choice chooses the engine that runs Workers. The zero value is the built-in one.
type Choice struct {
	// Program runs them; nil for the built-in engine.
	Program *workerd.Program
	// Pool, with Program, bounds the processes of many sites; nil for a session on one site.
	Pool *workerd.PoolOptions
	// Inspection, with Program and without Pool, lets a debugger into the Workers; nil for none.
	Inspection *workerd.Inspection
}

// EngineReport describes an engine for programs.
type EngineReport struct {
	Name    string `json:"name"`              // built-in or workerd
	Version string `json:"version,omitempty"` // of workerd
	Path    string `json:"path,omitempty"`    // of workerd's program
}

// Report returns the engine for programs.
func (c Choice) Report() EngineReport {
	if c.Program == nil {
		return EngineReport{Name: BuiltIn}
	}
	return EngineReport{Name: Workerd, Version: c.Program.Version, Path: c.Program.Path}
}

// String returns the engine for people.
func (c Choice) String() string {
	if c.Program == nil {
		return BuiltIn
	}
	return Workerd + " " + c.Program.Version
}

// Engine makes Workers. Close it after them. It is safe for concurrent use.
type Engine struct {
	choice  Choice
	pool    *workerd.Pool            // for the processes of workerd; nil if one session has them to itself
	memory  *pagesruntime.HostMemory // of all Workers in workerd
	opened  chan struct{}            // closed when builtIn and err are set; nil without the built-in engine
	swept   chan struct{}            // closed after the removal of files that killed processes left for workerd; nil without it
	builtIn *pagesruntime.Runtime
	err     error
}

// OpenEngine returns an engine. It opens the built-in one, with o, in the background; for workerd it does not open it at all.
func OpenEngine(ctx context.Context, c Choice, o pagesruntime.Options) *Engine {
	e := &Engine{choice: c, memory: o.Memory}
	if c.Program != nil {
		if e.memory == nil {
			e.memory = pagesruntime.NewHostMemory()
		}
		if c.Pool != nil {
			e.pool = c.Program.NewPool(*c.Pool)
		}
		e.swept = make(chan struct{})
		go func() {
			defer close(e.swept)
			workerd.Sweep(ctx, os.TempDir(), now(o))
		}()
		return e
	}
	e.opened = make(chan struct{})
	go func() {
		defer close(e.opened)
		e.builtIn, e.err = pagesruntime.Open(ctx, o)
	}()
	return e
}

func now(o pagesruntime.Options) time.Time {
	if o.Now == nil {
		return time.Now() //nolint:forbidigo // the default of an injected clock
	}
	return o.Now()
}

// Choice returns the choice of the engine.
func (e *Engine) Choice() Choice { return e.choice }

// NewWorker starts a Worker. A *runtime.Error says that its code cannot run.
func (e *Engine) NewWorker(ctx context.Context, o pagesruntime.WorkerOptions) (Worker, error) {
	return e.newWorker(ctx, o, false)
}

// NewSleeping is NewWorker for code that has started before. If a pool bounds the processes, the Worker's process starts with its first
// request, which gets the error of a failed start.
func (e *Engine) NewSleeping(ctx context.Context, o pagesruntime.WorkerOptions) (Worker, error) {
	return e.newWorker(ctx, o, true)
}

func (e *Engine) newWorker(ctx context.Context, o pagesruntime.WorkerOptions, asleep bool) (Worker, error) {
	if e.opened == nil {
		w, err := e.startProcess(ctx, o, asleep)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
	<-e.opened
	if e.err != nil {
		return nil, e.err
	}
	w, err := e.builtIn.NewWorker(ctx, o)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (e *Engine) startProcess(ctx context.Context, o pagesruntime.WorkerOptions, asleep bool) (*workerd.Worker, error) {
	if o.Web.Memory == nil {
		o.Web.Memory = e.memory.Share()
	}
	if e.pool != nil {
		return e.pool.NewWorker(ctx, o, asleep)
	}
	if e.choice.Inspection != nil {
		return e.choice.Program.NewInspected(ctx, o, *e.choice.Inspection)
	}
	return e.choice.Program.NewWorker(ctx, o)
}

// Close frees the shared resources of the Workers.
func (e *Engine) Close(ctx context.Context) error {
	if e.opened == nil {
		if e.pool != nil {
			e.pool.Close()
		}
		<-e.swept
		return nil
	}
	<-e.opened
	if e.builtIn == nil {
		return nil
	}
	if err := e.builtIn.Close(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}
