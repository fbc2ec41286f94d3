package main

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
	"github.com/pages-toolchain/pages/runtime/web"
)

// drainTime is how long requests may go on in a Worker that was replaced, and
// then what the last of them left for waitUntil.
const drainTime = 30 * time.Second

// sharedWorker is a Worker that several revisions may use: it is closed after
// the last of them.
type sharedWorker struct {
	worker *pagesruntime.Worker
	set    *binding.Set
	key    string
	limits manifest.Limits
	mask   *strings.Replacer // of its secrets
	uses   atomic.Int32
	until  context.Context // of the dev server: draining ends with it
	closed sync.Once
	from   *workerSet

	overdue atomic.Pointer[time.Timer] // of one that was retired
}

// workerOptions is what the manifest says of a Worker.
func workerOptions(m *manifest.Manifest) pagesruntime.WorkerOptions {
	flags := m.Runtime.CompatibilityFlags
	return pagesruntime.WorkerOptions{
		Limits: pagesruntime.Limits{CPU: time.Duration(m.Limits.CPUMs) * time.Millisecond, SubRequests: m.Limits.SubRequests},
		NodeJS: slices.Contains(flags, manifest.FlagNodeJS),
		Web:    web.Options{StrictlyPublic: slices.Contains(flags, manifest.FlagStrictlyPublic)},
	}
}

// Serve implements site.Worker.
func (s *sharedWorker) Serve(w http.ResponseWriter, r *http.Request) error {
	usage, err := s.worker.Serve(w, r)
	site.SetMeter(r.Context(), site.Meter{
		CPUMs: float64(usage.CPU) / float64(time.Millisecond), CPULimitMs: s.limits.CPUMs,
		SubRequests: usage.SubRequests, SubRequestsMax: s.limits.SubRequests, Isolate: usage.Isolate,
	})
	if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
		f = maskedFailure(s.mask, f)
		site.SetFailure(r.Context(), failureOf(f))
		return f
	}
	if usage.Broke != nil {
		site.SetFailure(r.Context(), failureOf(maskedFailure(s.mask, usage.Broke)))
	}
	return err
}

// failureOf is an error of a Worker in the terms of the log.
func failureOf(f *pagesruntime.Error) site.Failure {
	failure := site.Failure{Kind: string(f.Kind), Name: f.Name, Message: f.Message, Limit: f.Limit}
	if len(f.Frames) > 0 {
		failure.File, failure.Line, failure.Column = f.Frames[0].File, f.Frames[0].Line, f.Frames[0].Column
	}
	return failure
}

// retire is for a Worker that another one takes over from: its WebSockets are
// closed, and what is under way may go on for a bounded time.
func (s *sharedWorker) retire() {
	s.worker.Retire()
	s.overdue.Store(time.AfterFunc(drainTime, func() { s.close(0) }))
	s.release()
}

func (s *sharedWorker) release() {
	if s.uses.Add(-1) == 0 {
		s.close(drainTime)
	}
}

// close lets requests and what they left for waitUntil finish, for a bounded
// time, and gives back what the Worker held.
func (s *sharedWorker) close(wait time.Duration) {
	s.closed.Do(func() {
		if t := s.overdue.Load(); t != nil {
			t.Stop() // it would hold the Worker's image until then
		}
		ctx, cancel := context.WithTimeout(s.until, wait)
		defer cancel()
		s.worker.Close(ctx)
		// Giving back a connection fails only when it is gone already.
		_ = closeDatabases(s.set)
		s.from.remove(s)
	})
}

func closeDatabases(set *binding.Set) error {
	var errs []error
	for _, d := range set.Databases {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// workerSet are the Workers that are not closed yet. The zero value is empty.
type workerSet struct {
	mu      sync.Mutex
	workers map[*sharedWorker]struct{}
}

func (l *workerSet) add(until context.Context, w *pagesruntime.Worker, set *binding.Set, limits manifest.Limits, mask *strings.Replacer) *sharedWorker {
	s := &sharedWorker{worker: w, set: set, limits: limits, mask: mask, until: until, from: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.workers == nil {
		l.workers = map[*sharedWorker]struct{}{}
	}
	l.workers[s] = struct{}{}
	return s
}

func (l *workerSet) remove(s *sharedWorker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.workers, s)
}

func (l *workerSet) all() []*sharedWorker {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.workers))
}
