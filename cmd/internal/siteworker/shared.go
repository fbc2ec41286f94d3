// Package siteworker runs the Worker of a site, in development or published.
//
// Input: a started Worker of an engine, with its bindings. Output: responses, and for devserver/site the meter and the failure of each
// request. A Shared Worker serves several revisions and closes after the last of them; its logs and errors do not show the values of its
// secrets. All of it is safe for concurrent use.
package siteworker

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web"
)

// DrainTime is the time that a replaced Worker has to finish its requests, and then their waitUntil tasks.
const DrainTime = 30 * time.Second

// Worker is a Worker that an engine has started: a *runtime.Worker, or one of another engine. All of it is safe for concurrent use.
type Worker interface {
	// Serve answers a request. An error is a *runtime.Error, and means that no byte was written.
	Serve(w http.ResponseWriter, r *http.Request) (pagesruntime.Usage, error)
	// Retire ends the WebSockets with the code 1012, since another Worker replaces this one; open requests continue.
	Retire()
	// Close waits for open requests until ctx ends, then frees all resources of the Worker.
	Close(ctx context.Context)
}

// Shared is a Worker that several revisions may use. It closes after the last of them.
type Shared struct {
	Worker Worker
	set    *binding.Set
	Key    string
	limits manifest.Limits
	mask   *strings.Replacer // of its secrets
	Uses   atomic.Int32
	until  context.Context // of the dev server: draining ends with it
	closed sync.Once
	from   *Set

	overdue atomic.Pointer[time.Timer] // of a retired one
}

// Options returns the options for a Worker of the manifest.
func Options(m *manifest.Manifest) pagesruntime.WorkerOptions {
	flags := m.Runtime.CompatibilityFlags
	return pagesruntime.WorkerOptions{
		Limits: pagesruntime.Limits{CPU: time.Duration(m.Limits.CPUMs) * time.Millisecond, SubRequests: m.Limits.SubRequests},
		NodeJS: slices.Contains(flags, manifest.FlagNodeJS),
		Web: web.Options{
			StrictlyPublic: slices.Contains(flags, manifest.FlagStrictlyPublic), StatusText: site.SetStatusText,
		},
	}
}

// Serve implements site.Worker.
func (s *Shared) Serve(w http.ResponseWriter, r *http.Request) error {
	trace.From(r.Context()).SetMask(s.mask)
	usage, err := s.Worker.Serve(w, r)
	site.SetMeter(r.Context(), site.Meter{
		CPUMs: float64(usage.CPU) / float64(time.Millisecond), CPULimitMs: s.limits.CPUMs,
		SubRequests: usage.SubRequests, SubRequestsMax: s.limits.SubRequests, Isolate: usage.Isolate,
		CPUShared: usage.Shared,
	})
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
		f = MaskFailure(s.mask, f)
		site.SetFailure(r.Context(), failureOf(f))
		return f
	}
	if usage.Broke != nil {
		site.SetFailure(r.Context(), failureOf(MaskFailure(s.mask, usage.Broke)))
	}
	return err
}

// failureOf converts an error of a Worker for the log.
func failureOf(f *pagesruntime.Error) site.Failure {
	failure := site.Failure{Kind: string(f.Kind), Name: f.Name, Message: f.Message, Limit: f.Limit}
	if len(f.Frames) > 0 {
		failure.File, failure.Line, failure.Column = f.Frames[0].File, f.Frames[0].Line, f.Frames[0].Column
	}
	return failure
}

// Retire starts the replacement of a Worker: its WebSockets close, and open requests have DrainTime to finish.
func (s *Shared) Retire() {
	s.Worker.Retire()
	s.overdue.Store(time.AfterFunc(DrainTime, func() { s.Close(0) }))
	s.Release()
}

// Release ends one use. The Worker closes after the last one.
func (s *Shared) Release() {
	if s.Uses.Add(-1) == 0 {
		s.Close(DrainTime)
	}
}

// Close lets requests and their waitUntil tasks finish, for wait at most, and frees the resources of the Worker.
func (s *Shared) Close(wait time.Duration) {
	s.closed.Do(func() {
		if t := s.overdue.Load(); t != nil {
			t.Stop() // the log would otherwise keep the Worker's image until then
		}
		ctx, cancel := context.WithTimeout(s.until, wait)
		defer cancel()
		s.Worker.Close(ctx)
		// Releasing a connection fails only if it is gone already.
		_ = CloseDatabases(s.set)
		s.from.remove(s)
	})
}

// CloseDatabases closes the databases of a Worker.
func CloseDatabases(set *binding.Set) error {
	var errs []error
	for _, d := range set.D1 {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// Set is a set of Workers that are not closed yet. The zero value is empty.
type Set struct {
	mu      sync.Mutex
	workers map[*Shared]struct{}
}

// Add adds a started Worker. When until ends, a closing Worker stops waiting for its last requests and ends them.
func (l *Set) Add(until context.Context, w Worker, set *binding.Set, limits manifest.Limits, mask *strings.Replacer) *Shared {
	s := &Shared{Worker: w, set: set, limits: limits, mask: mask, until: until, from: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.workers == nil {
		l.workers = map[*Shared]struct{}{}
	}
	l.workers[s] = struct{}{}
	return s
}

func (l *Set) remove(s *Shared) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.workers, s)
}

// All returns the Workers that are not closed yet.
func (l *Set) All() []*Shared {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.workers))
}
