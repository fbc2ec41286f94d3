package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// IsolateOptions are an isolate's host functions, limits and callbacks. All callbacks run on the isolate's goroutine.
type IsolateOptions struct {
	// Funcs are the host functions, by the names given to Boot. A missing one throws when called.
	Funcs map[string]Func
	// Share is the memory that Go may hold for the isolate and the others with the same share: of Engine.Share. Default:
	// the whole quota.
	Share *HostMemory
	// Modules are the sources of the modules that the host provides, by specifier.
	Modules map[string]string
	// OnRejection is called at the end of a turn for each promise that was rejected and has no handler.
	OnRejection func(*Scope, *Error)
	// OnReset is called after the isolate started over from its image: cause is a *KilledError, an out of memory *Error or
	// another reason. All work in it is lost. The scope is that of the last turn, or nil.
	OnReset func(scope *Scope, cause error)
	// Companion makes the state of each VM outside of its memory; saved is the saved state of the companion of the image's
	// VM, or nil. Default: none.
	Companion func(vm *VM, saved any) Companion
	// OnIdle is called at the end of a turn whose scope has no running Async: nothing more will happen for the scope
	// unless the embedder acts.
	OnIdle func(*Scope)
	// OnFull is called at the end of the turn in which the isolate met its memory limit, once for each VM, with the memory
	// that it held. over means that the isolate starts over in any case; else the result decides. Default: it continues.
	OnFull func(scope *Scope, held Held, over bool) (startOver bool)
	// FinalizerScope makes the scope of a turn in which callbacks of FinalizationRegistry run; done is called after it.
	// Default: they do not run.
	FinalizerScope func() (scope *Scope, done func())
	// OnLost is called when a turn of the scope settled a promise that an ended scope awaited: the code after the await does
	// not run. Once for each VM, since most cases are harmless.
	OnLost func(*Scope)
	// OnCut is called when a turn was ended early because its scope is abandoned. last, if any, is a last turn of the scope;
	// after it startOver decides whether the isolate starts over, with ErrAbandoned as cause. Default: neither.
	OnCut func(*Scope) (last func(*VM) error, startOver func() bool)
}

// Isolate is one virtual machine and the goroutine that runs its event loop.
type Isolate struct {
	engine  *Engine
	image   *Image
	o       IsolateOptions
	ctx     context.Context
	cancel  context.CancelFunc
	tasks   chan task
	work    sync.WaitGroup // the loop and running Asyncs
	vm      *VM            // the loop's
	stop    atomic.Bool
	done    chan struct{} // closed at the end of the loop
	reads   readQuota
	retired atomic.Bool
	outlast outlasting // Asyncs whose scopes have ended
	account *account
	trim    *time.Timer // of the loop; nil before its first use
}

// task is one turn to run.
type task struct {
	scope  *Scope
	fn     func(vm *VM) error
	result chan error // may be nil
	vm     *VM        // only for this VM; nil for any
	after  func()     // called when the turn is over or could not run; may be nil
	rewind bool       // instead of a turn: the isolate starts over
	trim   bool       // instead of a turn: free memory returns to the system
}

// NewIsolate starts an isolate from image. Close it.
func (e *Engine) NewIsolate(ctx context.Context, image *Image, o IsolateOptions) (*Isolate, error) {
	i := &Isolate{
		engine: e, image: image, o: o, tasks: make(chan task, 64), done: make(chan struct{}),
		account: newAccount(cmp.Or(o.Share, e.memory)),
	}
	i.ctx, i.cancel = context.WithCancel(context.WithoutCancel(ctx))
	i.outlast.ctx = i.ctx
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isolates == nil {
		i.cancel()
		return nil, ErrClosed
	}
	if err := i.renew(); err != nil {
		return nil, err
	}
	e.isolates[i] = struct{}{}
	i.work.Go(i.loop)
	return i, nil
}

// renew replaces the VM by a new one from the image, which takes 0.2 to 0.4 ms: after a kill the old one may be inside
// malloc, and memory that grew cannot shrink. The machine stack of the new VM grows by doubling, which cannot be
// interrupted: a kill in the first deep recursion may wait for a step of 13 MB, which takes 3 ms, or 25 ms with slow
// memory pages.
//
// The old VM is closed first, since the system may not have memory for both. Without a new one the isolate ends.
func (i *Isolate) renew() error {
	if i.vm != nil {
		i.vm.close()
		i.vm = nil
	}
	vm, err := i.engine.start(i.ctx, i.image)
	if err != nil {
		i.cancel()
		return err
	}
	i.attach(vm)
	return nil
}

// attach makes vm the isolate's.
func (i *Isolate) attach(vm *VM) {
	vm.account = i.account
	vm.funcs, vm.mods, vm.onRejection, vm.async, vm.stopped = i.o.Funcs, i.o.Modules, i.o.OnRejection, i.startAsync, &i.stop
	if i.vm = vm; i.o.Companion != nil {
		vm.companion = i.o.Companion(vm, i.image.companion)
	}
}

// Charge counts n bytes that Go holds for the isolate until Discharge. The error is for JavaScript, or the end of ctx.
func (i *Isolate) Charge(ctx context.Context, n int64) error { return i.account.charge(ctx, n) }

// Discharge subtracts n bytes.
func (i *Isolate) Discharge(n int64) { i.account.discharge(n) }

// Closed reports whether no further turn can run: the isolate was closed, or lacked the memory to start over.
func (i *Isolate) Closed() bool { return i.ctx.Err() != nil }

// Retire marks the isolate: it must get no new work. Retired reports the mark.
func (i *Isolate) Retire() { i.retired.Store(true) }

// Retired reports whether Retire was called.
func (i *Isolate) Retired() bool { return i.retired.Load() }

// Do runs fn as one turn on behalf of scope, drains the job queue and returns fn's error. A *KilledError means that the
// turn used up its budget; ErrClosed that the isolate was closed; ErrAbandoned that the scope is abandoned.
func (i *Isolate) Do(scope *Scope, fn func(vm *VM) error) error {
	t := task{scope: scope, fn: fn, result: make(chan error, 1)}
	if err := i.post(t); err != nil {
		return err
	}
	select {
	case err := <-t.result:
		return err
	case <-i.done:
		select {
		case err := <-t.result:
			return err
		default:
			return ErrClosed
		}
	}
}

func (i *Isolate) post(t task) error {
	select {
	case i.tasks <- t:
		return nil
	case <-i.ctx.Done():
		return ErrClosed
	}
}

func (i *Isolate) loop() {
	defer close(i.done)
	defer func() {
		if i.trim != nil {
			i.trim.Stop()
		}
	}()
	for {
		select {
		case t := <-i.tasks:
			err := i.run(t)
			if t.after != nil {
				t.after()
			}
			if t.result != nil {
				t.result <- err
			}
			i.runCrossings()
			i.runFinalizers()
		case <-i.ctx.Done():
			if i.vm != nil {
				i.vm.close()
			}
			return
		}
	}
}

// run runs a task. After a turn that broke the VM the isolate starts over.
func (i *Isolate) run(t task) error {
	if i.vm == nil {
		return ErrClosed
	}
	switch {
	case t.rewind:
		i.rewind()
		return nil
	case t.trim:
		if i.stop.Load() {
			return nil
		}
		err := i.vm.guard(func() error {
			i.vm.discardFree()
			return nil
		})
		if err != nil {
			i.reset(nil, err)
		}
		return err
	}
	defer i.scheduleTrim()
	if t.vm != nil && (t.vm != i.vm || t.scope.ended()) {
		return ErrReset
	}
	if t.scope.abandoned() {
		return ErrAbandoned
	}
	err := i.vm.turn(t.scope, func() error { return t.fn(i.vm) })
	full := i.reportFull(t.scope, isCrash(err))
	switch {
	case full:
		i.reset(t.scope, errFull)
	case isCrash(err):
		if killed, ok := errors.AsType[*KilledError](err); ok {
			err = killed
		}
		i.reset(t.scope, err)
	case i.vm.cut:
		if i.o.OnCut == nil {
			break
		}
		last, startOver := i.o.OnCut(t.scope)
		if last != nil {
			_ = i.run(task{scope: t.scope, fn: last}) // its result does not matter
		}
		if startOver() {
			i.reset(nil, ErrAbandoned)
		}
	case i.o.OnIdle != nil && t.scope.Idle():
		i.o.OnIdle(t.scope)
	}
	return err
}

// errFull is the cause when an isolate starts over at its memory limit.
var errFull = errors.New("the isolate met its memory limit")

// reportFull calls OnFull for a VM that met its limit. It reports whether the isolate must start over for that reason.
func (i *Isolate) reportFull(scope *Scope, over bool) bool {
	if i.vm.met == nil || i.vm.metReported || i.o.OnFull == nil || i.stop.Load() {
		return false
	}
	i.vm.metReported = true
	return i.o.OnFull(scope, *i.vm.met, over) && !over
}

// runCrossings runs the turns of other scopes that result from the last turn, and from these turns
// in turn.
func (i *Isolate) runCrossings() {
	for vm := i.vm; vm != nil && !i.stop.Load(); vm = i.vm {
		o := &vm.owners
		if len(o.crossings) == 0 {
			return
		}
		c := o.crossings[0]
		o.crossings = o.crossings[1:]
		if c.scope != nil && !c.scope.ended() && !c.scope.abandoned() {
			_ = i.run(task{scope: c.scope, fn: c.settle}) // OnReset reports a failure
			continue
		}
		if !o.lost && i.o.OnLost != nil {
			i.o.OnLost(c.by)
		}
		o.lost = true
		if err := vm.guard(func() error { return c.free(vm) }); err != nil {
			i.reset(nil, err)
		}
	}
}

func (i *Isolate) reset(scope *Scope, cause error) {
	if i.stop.Load() {
		return
	}
	if err := i.renew(); err != nil {
		cause = fmt.Errorf("%w; and it cannot start over: %w", cause, err)
	}
	if i.o.OnReset != nil {
		i.o.OnReset(scope, cause)
	}
}

// HeapFull reports whether the heap has ever reached its limit: QuickJS drops reactions to promises silently when they do
// not fit. Call it on the isolate's goroutine.
func (i *Isolate) HeapFull() bool { return i.vm.full() }

// Rewind starts the isolate over from its image before the next turn, in place if possible, and does not wait for it. The
// isolate must be idle, so that no code is inside malloc. OnReset is called only without memory to start over.
func (i *Isolate) Rewind() {
	_ = i.post(task{rewind: true}) // only a closed isolate refuses it
}

func (i *Isolate) rewind() {
	if i.stop.Load() {
		return
	}
	if vm, ok := i.vm.rewind(i.ctx, i.image); ok {
		i.attach(vm)
		return
	}
	if err := i.renew(); err != nil && i.o.OnReset != nil {
		i.o.OnReset(nil, fmt.Errorf("start over: %w", err))
	}
}

// Snapshot returns an image of the isolate as it is now, at rest; from now on the isolate starts over from there.
func (i *Isolate) Snapshot(scope *Scope) (*Image, error) {
	var image *Image
	err := i.Do(scope, func(vm *VM) (err error) {
		vm.call(fnRunGC, uint64(vm.rt))
		vm.zeroFreeHeap()
		vm.call(fnFree, uint64(vm.malloc(headroom+1)))
		if image, err = vm.snapshot(); err != nil {
			return err
		}
		if file, err := newMemoryFile(image.size, image.runs); err == nil {
			image.file, image.runs = file, file.runs
		}
		i.image = image
		return nil
	})
	return image, err
}

// startAsync runs work on its own goroutine and settles the promise in a turn.
func (i *Isolate) startAsync(vm *VM, work Async, s settler) {
	scope := vm.scope
	scope.pending.Add(1)
	i.work.Go(func() {
		ctx, stop := context.WithCancel(scope.ctx)
		defer stop()
		defer context.AfterFunc(i.ctx, stop)()
		reservation := &asyncReservation{outlast: &i.outlast, scope: scope, reads: &i.reads, account: i.account}
		value, err := recoverPanic(context.WithValue(ctx, reservationKey{}, reservation), work)
		if b := bufferOf(value); b != nil {
			reservation.buffers = append(reservation.buffers, b)
		}
		if more := sizeOf(value) - reservation.n; more > 0 {
			if over := reservation.add(ctx, more); over != nil {
				value, err = nil, over
			}
		}
		settled := task{scope: scope, vm: vm, after: reservation.release, fn: func(vm *VM) error {
			scope.pending.Add(-1)
			s.settle(vm, value, err)
			return nil
		}}
		if i.post(settled) != nil { // a closed isolate has no promise to settle
			reservation.release()
		}
	})
}

// maxOutlasting bounds the work of an isolate that outlasts its scopes, which a Worker could pile up.
const maxOutlasting = 256

// Outlasting returns a context for the rest of an Async, whose own context is ctx: it lasts beyond its scope, until the isolate is
// closed. Call done at the end. It is for work that must complete even if its request ends first.
func Outlasting(ctx context.Context) (longer context.Context, done func()) {
	reservation, ok := ctx.Value(reservationKey{}).(*asyncReservation)
	if !ok {
		return ctx, func() {}
	}
	of := reservation.outlast
	longer, cancel := context.WithCancel(context.WithValue(of.ctx, reservationKey{}, reservation))
	stop := context.AfterFunc(ctx, func() {
		if of.count.Add(1) > maxOutlasting {
			cancel()
		}
	})
	return longer, func() {
		if !stop() {
			of.count.Add(-1)
		}
		cancel()
	}
}

// outlasting is the work of an isolate or a Guest that outlasts its scopes, and ends with ctx.
type outlasting struct {
	ctx   context.Context // of the isolate or Guest
	count atomic.Int32
}

// recoverPanic runs work and returns a panic in it as an error.
func recoverPanic(ctx context.Context, work Async) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("host function panicked: %v", p)
		}
	}()
	return work(ctx)
}

// Close ends the loop and the current turn, cancels running work and waits for its end. Do not call it from a turn.
func (i *Isolate) Close() {
	i.stop.Store(true)
	i.cancel()
	i.work.Wait()
	for len(i.tasks) > 0 {
		if t := <-i.tasks; t.after != nil {
			t.after()
		}
	}
	i.account.close()
	i.engine.mu.Lock()
	defer i.engine.mu.Unlock()
	delete(i.engine.isolates, i)
}
