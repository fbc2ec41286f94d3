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

// IsolateOptions says what an isolate reaches.
type IsolateOptions struct {
	// Funcs are the host functions, by the names given to Boot. One that is
	// missing throws when it is called.
	Funcs map[string]Func
	// Share is what Go may hold for the isolate and the others that share it: of
	// Engine.Share. Default: as much as for all.
	Share *HostMemory
	// Modules are the sources of the modules that the host provides, by
	// specifier.
	Modules map[string]string
	// OnRejection hears, at the end of a turn, of each promise that was rejected
	// and has no handler. Called on the isolate's goroutine.
	OnRejection func(*Scope, *Error)
	// OnReset hears that the isolate started over from its image: of a *KilledError,
	// an out of memory *Error or another reason. All that was under way in it is
	// lost. The scope is the one whose turn was the last, nil when there is none. Called on the isolate's goroutine.
	OnReset func(scope *Scope, cause error)
	// Companion makes the state that each VM has beside its memory; saved is what
	// that of the image's VM saved, nil for an image without. Default: none.
	Companion func(vm *VM, saved any) Companion
	// OnIdle hears, at the end of a turn, that its scope has no Async under way:
	// nothing more will happen on its behalf unless the embedder acts. Called on
	// the isolate's goroutine.
	OnIdle func(*Scope)
	// OnLost hears that a turn of the scope settled a promise that a scope awaited
	// which has ended: what came after the await is lost. Once for each VM, since
	// most of it is of no interest any more. Called on the isolate's goroutine.
	OnLost func(*Scope)
	// OnCut hears that a turn of the scope was ended in its midst, since nobody waits for
	// it. last, if any, is a last turn of the scope; after it startOver says whether
	// the isolate starts over, with ErrAbandoned as cause. Called on the isolate's
	// goroutine. Default: neither.
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
	work    sync.WaitGroup // the loop and the Asyncs under way
	vm      *VM            // the loop's
	stop    atomic.Bool
	gone    chan struct{}
	room    readQuota
	retired atomic.Bool
	// account is what Go holds for the isolate.
	account *account
	trim    *time.Timer // of the loop; nil before its first use
}

// task is one turn to run; done, if any, is told the result.
type task struct {
	scope *Scope
	fn    func(vm *VM) error
	done  chan error
	vm    *VM // only if this VM still runs; nil for any
	// after, if any, is called when the turn is over, also if there was none for it.
	after func()
	// rewind is not a turn: the isolate starts over.
	rewind bool
	// trim is not a turn: free memory is given back.
	trim bool
}

// NewIsolate starts an isolate from image. Close it.
func (e *Engine) NewIsolate(ctx context.Context, image *Image, o IsolateOptions) (*Isolate, error) {
	i := &Isolate{engine: e, image: image, o: o, tasks: make(chan task, 64), gone: make(chan struct{}), account: newAccount(cmp.Or(o.Share, e.memory))}
	i.ctx, i.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.register(i); err != nil {
		i.cancel()
		return nil, err
	}
	return i, nil
}

// renew replaces the VM by one fresh from the image. After a kill nothing less will
// do: it may have come inside malloc, and memory that grew cannot shrink. It takes
// 0.2 to 0.4 ms. The machine stack of the new VM grows anew, by doubling, and nothing
// interrupts a step of that: a kill in the first deep recursion may wait for one of
// 13 MB, which takes 3 ms, or 25 where pages of memory are slow.
//
// The old VM goes first: the system may have no room for both. Without a new one the
// isolate is over.
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

// attach gives vm what an isolate's VM reaches, and makes it the isolate's.
func (i *Isolate) attach(vm *VM) {
	vm.account = i.account
	vm.funcs, vm.mods, vm.onRejection, vm.async, vm.stopped = i.o.Funcs, i.o.Modules, i.o.OnRejection, i.startAsync, &i.stop
	if i.vm = vm; i.o.Companion != nil {
		vm.companion = i.o.Companion(vm, i.image.companion)
	}
}

// Charge counts n bytes that Go holds for the isolate until Discharge. The error is for
// JavaScript, or the end of ctx.
func (i *Isolate) Charge(ctx context.Context, n int64) error { return i.account.charge(ctx, n) }

// Discharge counts them no more.
func (i *Isolate) Discharge(n int64) { i.account.discharge(n) }

// Closed reports whether nothing can run here any more: it was closed, or there was no room
// to start over.
func (i *Isolate) Closed() bool { return i.ctx.Err() != nil }

// Do runs fn as one turn on behalf of scope, drains the job queue and returns
// fn's error. A *KilledError means that the turn used up its budget; ErrClosed that
// the isolate was closed; ErrAbandoned that nobody waits for the scope.
func (i *Isolate) Do(scope *Scope, fn func(vm *VM) error) error {
	t := task{scope: scope, fn: fn, done: make(chan error, 1)}
	if err := i.post(t); err != nil {
		return err
	}
	select {
	case err := <-t.done:
		return err
	case <-i.gone:
		select {
		case err := <-t.done:
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
	defer close(i.gone)
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
			if t.done != nil {
				t.done <- err
			}
			i.runCrossings()
		case <-i.ctx.Done():
			if i.vm != nil {
				i.vm.close()
			}
			return
		}
	}
}

// run runs a turn; after one that broke the VM the isolate starts over.
func (i *Isolate) run(t task) error {
	if i.vm == nil {
		return ErrClosed
	}
	switch {
	case t.rewind:
		i.rewind()
		return nil
	case t.trim:
		return i.discard()
	}
	defer i.scheduleTrim()
	if t.vm != nil && (t.vm != i.vm || t.scope.ended()) {
		return ErrReset
	}
	if t.scope.abandoned() {
		return ErrAbandoned
	}
	err := i.vm.turn(t.scope, func() error { return t.fn(i.vm) })
	if i.vm.cut && !isCrash(err) {
		i.afterInterrupted(t.scope)
		return err
	}
	if !isCrash(err) {
		if i.o.OnIdle != nil && t.scope.Idle() {
			i.o.OnIdle(t.scope)
		}
		return err
	}
	if killed, ok := errors.AsType[*KilledError](err); ok {
		err = killed
	}
	i.reset(t.scope, err)
	return err
}

// discard gives back what is free, between turns.
func (i *Isolate) discard() error {
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

// runCrossings runs the turns that the last one left to other scopes, and those that
// these leave.
func (i *Isolate) runCrossings() {
	for vm := i.vm; vm != nil && !i.stop.Load(); vm = i.vm {
		c := vm.nextCrossing()
		switch {
		case c == nil:
			return
		case c.scope == nil || c.scope.ended() || c.scope.abandoned():
			i.dropCrossing(vm, c)
		default:
			// Who waits for the scope hears of a failure by OnReset.
			_ = i.run(task{scope: c.scope, fn: c.settle})
		}
	}
}

// dropCrossing drops a crossing whose scope has ended.
func (i *Isolate) dropCrossing(vm *VM, c *crossing) {
	if !vm.owners.lost && i.o.OnLost != nil {
		i.o.OnLost(c.by)
	}
	vm.owners.lost = true
	if err := vm.guard(func() error { return c.free(vm) }); err != nil {
		i.reset(nil, err)
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

// HeapFull reports whether the heap has reached its limit, then or before. The engine drops
// reactions to promises that it has no room for, without a word. Call it on the
// isolate's goroutine.
func (i *Isolate) HeapFull() bool { return i.vm.full() }

// Reset starts the isolate over from its image: what was under way is lost.
func (i *Isolate) Reset(scope *Scope, cause error) error {
	return i.Do(scope, func(*VM) error {
		panic(broken{cause})
	})
}

// Rewind starts the isolate over from its image before the next turn, in place if
// that can be done, and does not wait for it. The caller sees to it that nothing
// is under way, so that nothing is inside malloc: OnReset hears of it only when there
// is no memory to start over.
func (i *Isolate) Rewind() {
	_ = i.post(task{rewind: true}) // a closed isolate has nothing to start
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

// Snapshot returns an image of the isolate as it is now, at rest, with all that
// was evaluated in it; from now on the isolate starts over from there.
func (i *Isolate) Snapshot(scope *Scope) (*Image, error) {
	var image *Image
	err := i.Do(scope, func(vm *VM) (err error) {
		vm.call(fnRunGC, uint64(vm.rt))
		vm.zeroFreeHeap()
		vm.call(fnFree, uint64(vm.malloc(headroom+1)))
		if image, err = vm.snapshot(); err != nil {
			return err
		}
		image.share()
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
		held := &asyncReservation{scope: scope, room: &i.room, account: i.account}
		value, err := recoverPanic(context.WithValue(ctx, reservationKey{}, held), work)
		held.freeUnlessUsed(value)
		if over := held.addResult(ctx, value); over != nil {
			value, err = nil, over
		}
		settled := task{scope: scope, vm: vm, after: held.release, fn: func(vm *VM) error {
			scope.pending.Add(-1)
			s.settle(vm, value, err)
			return nil
		}}
		if i.post(settled) != nil { // a closed isolate has no promise left to settle
			held.release()
		}
	})
}

// recoverPanic runs work; a panic in it is an error like any other.
func recoverPanic(ctx context.Context, work Async) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("host function panicked: %v", p)
		}
	}()
	return work(ctx)
}

// Close ends the loop and the turn that runs, cancels what is under way and waits
// for it to stop. Do not call it from a turn.
func (i *Isolate) Close() {
	i.stop.Store(true)
	i.cancel()
	i.work.Wait()
	for len(i.tasks) > 0 { // nobody runs them any more
		if t := <-i.tasks; t.after != nil {
			t.after()
		}
	}
	i.account.close()
	i.engine.unregister(i)
}
