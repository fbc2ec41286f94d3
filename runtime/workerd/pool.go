package workerd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// This file bounds the processes of many Workers: their number and their total memory.

// PoolOptions are the bounds of a Pool. The zero value has those of the machine.
type PoolOptions struct {
	// Processes is the limit of running processes. Default: as many as fit into Memory, with usualBytes each.
	Processes int
	// Memory is the limit of all processes together, in bytes. Default: half of the machine's, or of the control group's.
	Memory int64
	// Idle is the time after which an idle process ends. Default: 5 minutes.
	Idle time.Duration
	// Wait is how long a request may wait for a process while all are busy. Default: 5 seconds.
	Wait time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Logger gets the reason when the pool ends a process. Default: none.
	Logger *slog.Logger

	step time.Duration // between checks
}

const (
	// usualBytes is the memory of a process from which their number is computed: its own memory has 11 MiB at the start, and 30 to 60 after
	// pages that render much. The shared memory of the program does not count.
	usualBytes = 64 << 20
	// leastBytes and leastProcesses are the minimum on small machines: one process with a full heap, and two revisions of a site.
	leastBytes     = 320 << 20
	leastProcesses = 2
	// maxProcesses is the limit on any machine.
	maxProcesses = 64

	defaultIdle = 5 * time.Minute
	defaultWait = 5 * time.Second
	// poolStep is the interval between checks of the processes.
	poolStep = time.Second
)

// WithDefaults returns the bounds with the machine's defaults for zero values.
func (o PoolOptions) WithDefaults() PoolOptions {
	if o.Memory <= 0 {
		o.Memory = max(machineMemory()/2, leastBytes)
	}
	if o.Processes <= 0 {
		o.Processes = int(min(max(o.Memory/usualBytes, leastProcesses), maxProcesses))
	}
	o.Idle, o.Wait, o.step = cmp.Or(o.Idle, defaultIdle), cmp.Or(o.Wait, defaultWait), cmp.Or(o.step, poolStep)
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Pool runs Workers, each in its own process, and bounds the number of processes. An idle process ends after a while, or when another
// Worker needs its place; the next request starts it again, without the variables of the Worker, as in production. It is safe for
// concurrent use. Close it after its Workers.
type Pool struct {
	program Program
	o       PoolOptions
	ended   context.CancelFunc
	over    chan struct{} // closed when run has ended
	nudge   chan struct{} // has an item when a process may have to end

	mu      sync.Mutex
	workers map[*Worker]struct{}
	taken   int // the number of processes that run, start or end
	waiting []*permit
}

// permit is the place of a process.
type permit struct{ granted chan struct{} }

// NewPool returns a pool without Workers.
func (p Program) NewPool(o PoolOptions) *Pool {
	pool := &Pool{
		program: p, o: o.WithDefaults(), over: make(chan struct{}), nudge: make(chan struct{}, 1), workers: map[*Worker]struct{}{},
	}
	pool.o.Logger.Info("processes of workerd are bounded", "most", pool.o.Processes, "bytes", pool.o.Memory)
	var ctx context.Context
	ctx, pool.ended = context.WithCancel(context.Background()) //nolint:forbidigo // Close ends it
	go pool.run(ctx)
	return pool
}

// Close ends the pool. Its Workers are closed.
func (p *Pool) Close() {
	p.ended()
	<-p.over
}

// NewWorker is Program.NewWorker within the bounds. An error of KindBusy means that there was no place for the process. A Worker that is
// asleep starts with its first request, which gets the error if the start fails.
func (p *Pool) NewWorker(ctx context.Context, o pagesruntime.WorkerOptions, asleep bool) (*Worker, error) {
	return p.program.newWorker(ctx, o, p, asleep, nil)
}

// Processes returns the number of processes.
func (p *Pool) Processes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

func (p *Pool) add(w *Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers[w] = struct{}{}
}

func (p *Pool) remove(w *Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, w)
}

func (p *Pool) all() []*Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.workers))
}

// enter waits for the place of a process. The caller calls leave when the process has ended.
func (p *Pool) enter(ctx context.Context) error {
	p.mu.Lock()
	if p.taken < p.o.Processes && len(p.waiting) == 0 {
		p.taken++
		p.mu.Unlock()
		return nil
	}
	mine := &permit{make(chan struct{})}
	p.waiting = append(p.waiting, mine)
	p.mu.Unlock()
	p.wake()
	timer := time.NewTimer(p.o.Wait)
	defer timer.Stop()
	var err error
	select {
	case <-mine.granted:
		return nil
	case <-timer.C:
		err = p.busy()
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, mine)
	if i < 0 { // granted in the meantime
		return nil
	}
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return err
}

// busy is the error of a request without a process.
func (p *Pool) busy() error {
	return &pagesruntime.Error{
		Kind:    pagesruntime.KindBusy,
		Message: fmt.Sprintf("no process of workerd was free for %v: at most %d run at a time, and all are busy", p.o.Wait, p.o.Processes),
		Fix:     "send the request again",
	}
}

// leave passes the place of an ended process to the next waiter.
func (p *Pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.taken--
		return
	}
	close(p.waiting[0].granted)
	p.waiting = p.waiting[1:]
}

// wake makes run look for processes to end.
func (p *Pool) wake() {
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// idled wakes the pool when a Worker becomes idle and others wait.
func (p *Pool) idled() {
	p.mu.Lock()
	wanted := len(p.waiting) > 0
	p.mu.Unlock()
	if wanted {
		p.wake()
	}
}

// run ends processes until ctx ends. Only run does so: otherwise two could end for one waiter.
func (p *Pool) run(ctx context.Context) {
	defer close(p.over)
	ticker := time.NewTicker(p.o.step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.nudge:
			p.makeRoom()
		case <-ticker.C:
			p.look()
			p.makeRoom()
		}
	}
}

// awake is a Worker with a process.
type awake struct {
	w      *Worker
	p      *process
	idle   bool
	since  time.Time // when it became idle
	memory int64
}

// awake returns the Workers with a running process.
func (p *Pool) awake() (list []*awake) {
	for _, w := range p.all() {
		if a := w.awake(); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// longestIdle returns the idle ones, the longest idle first.
func longestIdle(list []*awake) []*awake {
	list = slices.DeleteFunc(slices.Clone(list), func(a *awake) bool { return !a.idle })
	slices.SortFunc(list, func(a, b *awake) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.p.number, b.p.number)) })
	return list
}

// makeRoom ends idle processes, the longest idle first, until no request waits for a place.
func (p *Pool) makeRoom() {
	p.mu.Lock()
	wanted := len(p.waiting)
	p.mu.Unlock()
	if wanted == 0 {
		return
	}
	for _, a := range longestIdle(p.awake()) {
		if wanted == 0 {
			return
		}
		if a.w.sleep(a.p, "another site needed its place", true) {
			wanted--
		}
	}
}

// look ends processes that have been idle for too long or are too large.
func (p *Pool) look() {
	list := p.awake()
	for _, a := range list {
		a.memory = a.p.clock.memory()
	}
	now := p.o.Now()
	for _, a := range list {
		switch {
		case a.idle && now.Sub(a.since) >= p.o.Idle:
			a.sleep("it was idle")
		case a.idle && a.p.meter.tooLarge(a.memory):
			a.sleep("it was idle, and held too much memory")
		}
	}
	p.boundMemory(list)
}

// boundMemory ends the largest processes while the total is too large: first idle ones, and only then one that works.
func (p *Pool) boundMemory(list []*awake) {
	slices.SortFunc(list, func(a, b *awake) int { return cmp.Compare(b.memory, a.memory) })
	together := func() (sum int64) {
		for _, a := range list {
			sum += a.memory
		}
		return sum
	}
	for _, a := range list {
		if a.idle && together() > p.o.Memory {
			a.sleep("all processes together held too much memory")
		}
	}
	if sum := together(); sum > p.o.Memory {
		largest := slices.MaxFunc(list, func(a, b *awake) int { return cmp.Compare(a.memory, b.memory) })
		p.o.Logger.Warn("the largest process of workerd is ended: all together held too much memory",
			"memory", largest.memory, "together", sum, "most", p.o.Memory)
		largest.p.end(&ending{cause: byShortage})
	}
}

// sleep ends the process if it is still idle.
func (a *awake) sleep(why string) {
	if a.w.sleep(a.p, why, false) {
		a.ended()
	}
}

// ended removes an ended process.
func (a *awake) ended() { a.idle, a.memory = false, 0 }

// entered counts a request that needs the process until left is called.
func (w *Worker) entered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
}

func (w *Worker) left() {
	w.mu.Lock()
	w.users--
	idle := w.users == 0
	if idle && w.pool != nil {
		w.since = w.pool.o.Now()
	}
	w.mu.Unlock()
	if idle && w.pool != nil {
		w.pool.idled()
	}
}

// awake returns the Worker for its pool; nil without a running process.
func (w *Worker) awake() *awake {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == nil || w.current.ended() != nil {
		return nil
	}
	return &awake{w: w, p: w.current, idle: w.users == 0, since: w.since}
}

// sleep ends p if it is idle, waits for its end, and reports whether it did so. Requests in the meantime wait; another Worker that waits
// for the place comes before them.
func (w *Worker) sleep(p *process, why string, wanted bool) bool {
	w.mu.Lock()
	if w.current != p || w.users > 0 || w.drowsy {
		w.mu.Unlock()
		return false
	}
	w.drowsy = true
	w.mu.Unlock()
	settled := w.settled(p)
	w.mu.Lock()
	w.drowsy = false
	sleeps := settled && w.current == p && (wanted || w.users == 0)
	if sleeps {
		w.current = nil
	}
	w.announceLocked()
	w.mu.Unlock()
	if !sleeps {
		return false
	}
	w.o.Logger.Debug("workerd sleeps", "why", why)
	p.end(&ending{cause: bySleep})
	<-p.done
	return true
}

// settleTime is how long an idle process may take to answer a ping. Without a response, it runs code without a request.
const settleTime = 250 * time.Millisecond

// settled reports whether an idle process has no work. It first reads all output, which may report a waitUntil.
func (w *Worker) settled(p *process) bool {
	ctx, cancel := context.WithTimeout(w.ctx, settleTime)
	defer cancel()
	_ = p.ping(ctx)
	return !w.requests.waits(p)
}
