package workerd

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// This file measures and bounds the CPU time of requests by the clock of their process.
//
// The CPU time of the process counts for its current request. Several requests get equal shares, and the figure is marked as shared. While
// the process is busy, the meter sends a ping: the process answers it between turns, after all earlier turns. Until then the time counts
// for the requests that were current when the ping was sent; if there was only one, it is at fault. A later request must not overtake the
// ping. Without a request, code runs that no request waits for: it has a budget, too.

// share is the CPU time of one request.
type share struct {
	alone, shared time.Duration
	over          bool // the request has ended
	quiet         bool // a WebSocket without a message for a while, and without work after it
	roused        bool // a quiet one while the process works for an unknown request
}

// ping is a ping without a response yet.
type ping struct {
	used  time.Duration // of the process when the ping was sent, or at the last sign of progress
	among []*exchange   // the requests that were current
	sent  bool          // a request from now on arrives after the ping in workerd, too
	dials bool          // on a new connection, which workerd has yet to accept
}

// meter is the CPU time of one process.
type meter struct {
	p     *process
	woken chan struct{} // closed when a request begins
	signs atomic.Int64  // of life: reads that brought something
	base  int64         // memory of the process at its start

	mu      sync.Mutex
	started bool
	held    bool // by a debugger: the time counts for no request
	last    time.Duration
	running []*exchange
	ping    *ping
	stray   time.Duration // used without a request since judged
	judged  time.Time
	strayed int // consecutive judgements that saw much of it
}

const (
	// shortest and longest bound how long the watch sleeps.
	shortest = time.Millisecond
	longest  = 50 * time.Millisecond
	// busy is the CPU time after which a ping is sent.
	busy = 2 * time.Millisecond
	// quietPing is the interval between pings to a process that uses no CPU time during requests.
	quietPing = time.Second
	// turnTime is the CPU time after which a turn counts as endless, although it could be several turns within their budgets.
	turnTime = time.Second
	// quietSocket is the time after a message during which a WebSocket shares the CPU time.
	quietSocket = 200 * time.Millisecond
	// quietLook is the interval between checks while there are only quiet WebSockets, or code runs without a request.
	quietLook = 200 * time.Millisecond
	// idleLook is the interval between checks without a request.
	idleLook = time.Second
	// strayTime is the time of a judgement of code that runs without a request. The process ends after strayLooks consecutive judgements
	// that find it using more than the strayShare part of a processor, which is all that an endless loop gets on a busy machine.
	strayTime  = time.Second
	strayLooks = 3
	strayShare = 5
	// roomMB is the memory of a process above its start. V8 bounds its own heap, but not the memory of buffers.
	roomMB = 512
)

func (m *meter) init(p *process) { m.p, m.woken = p, make(chan struct{}, 1) }

// start begins to watch a process whose Worker has loaded.
func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started = true
	m.last, _ = m.p.clock.read()
	m.judged = time.Now() //nolint:forbidigo // durations are made of it
	m.base = m.p.clock.memory()
	m.p.w.work.Go(m.watch)
}

// stop ends the meter of a process that ended by itself, and returns its current requests.
func (m *meter) stop() []*exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.amongLocked()
}

// hold stops the clock while a debugger holds the code, or starts it again.
func (m *meter) hold(held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked()
	m.held = held
}

// alive records a sign of life.
func (m *meter) alive() { m.signs.Add(1) }

// begin adds a request. after is the ping whose connection workerd accepts before that of the request, if that is certain; otherwise nil.
func (m *meter) begin(x *exchange, after *ping) {
	m.mu.Lock()
	m.advanceLocked()
	m.running = append(m.running, x)
	if p := m.ping; p != nil && !p.stray() && (!p.sent || p.dials && p != after) {
		p.among = append(p.among, x)
	}
	m.mu.Unlock()
	select {
	case m.woken <- struct{}{}:
	default:
	}
}

// dialling returns the pending ping that a request on a free connection would overtake; nil for none.
func (m *meter) dialling() *ping {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ping != nil && m.ping.dials {
		return m.ping
	}
	return nil
}

// beginAgain is begin for an exchange that was over: the code that seemed to run without a request runs for it.
func (m *meter) beginAgain(x *exchange) {
	m.mu.Lock()
	if m.ping.stray() {
		m.ping = nil
	}
	x.share.over = false
	m.mu.Unlock()
	m.begin(x, nil)
}

func (m *meter) end(x *exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked()
	x.share.over = true
	for i, other := range m.running {
		if other == x {
			m.running = append(m.running[:i], m.running[i+1:]...)
			break
		}
	}
}

// of returns the CPU time of a request so far.
func (m *meter) of(x *exchange) (used time.Duration, shared bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked()
	return x.share.alone + x.share.shared, x.share.shared > 0
}

// message records a message on a WebSocket: its request shares the time again, with a new budget.
func (m *meter) message(x *exchange) {
	m.mu.Lock()
	m.advanceLocked()
	x.share.quiet, x.share.roused = false, false
	x.share.alone, x.share.shared = 0, 0
	m.mu.Unlock()
	select {
	case m.woken <- struct{}{}:
	default:
	}
}

// quiet marks a WebSocket without a message for a while; the isolate has answered a ping since then.
func (m *meter) quiet(x *exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked()
	x.share.quiet = true
}

// rouseLocked lets all quiet WebSockets share the time until the response to the next ping, because one of them works.
func (m *meter) rouseLocked() {
	for _, x := range m.running {
		x.share.quiet, x.share.roused = false, true
	}
	if m.ping == nil {
		m.sendLocked()
	}
}

// amongLocked are the requests that the process works for.
func (m *meter) amongLocked() []*exchange {
	from := m.running
	if m.ping != nil {
		from = m.ping.among
	}
	var among []*exchange
	for _, x := range from {
		if !x.share.over && !x.share.quiet {
			among = append(among, x)
		}
	}
	if len(among) == 0 && m.ping != nil && !m.ping.stray() {
		m.ping = nil
		return m.amongLocked()
	}
	return among
}

// stray reports whether the time until the ping's response counts for no request.
func (p *ping) stray() bool { return p != nil && len(p.among) == 0 }

// advanceLocked divides the CPU time used since the last call.
func (m *meter) advanceLocked() {
	now, err := m.p.clock.read()
	if err != nil || now <= m.last {
		return
	}
	used := now - m.last
	m.last = now
	if m.held {
		return
	}
	among := m.amongLocked()
	if len(among) > 0 && among[0].share.roused {
		m.stray += used // for an unknown request
	}
	switch len(among) {
	case 0:
		m.stray += used
	case 1:
		among[0].share.alone += used
	default:
		for _, x := range among {
			x.share.shared += used / time.Duration(len(among))
		}
	}
}

// tooLarge reports whether so many bytes of memory exceed the limit of a process.
func (m *meter) tooLarge(memory int64) bool { return memory-m.base > roomMB<<20 }

// straysLocked reports whether the process has worked without a request for a while.
func (m *meter) straysLocked(now time.Time) bool {
	passed := now.Sub(m.judged)
	if passed < m.p.w.strayTime {
		return false
	}
	if m.stray > passed/strayShare {
		m.strayed++
	} else {
		m.strayed = 0
	}
	m.judged, m.stray = now, 0
	return m.strayed >= strayLooks && m.p.w.o.Limits.Budget() > 0
}

// watch runs until the process ends, and ends it when a request is over its budget.
func (m *meter) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var (
		before look
		woken  <-chan struct{} // set without a request
	)
	for {
		select {
		case <-timer.C:
		case <-woken:
			woken = nil
			timer.Reset(shortest)
			continue
		case <-m.p.done:
			return
		}
		next, why := m.look(&before)
		if why != nil {
			m.p.end(why)
			return
		}
		if woken = nil; next == idleLook {
			woken = m.woken
		}
		timer.Reset(next)
	}
}

// look is the last reading of the watch.
type look struct {
	used  time.Duration
	signs int64
	since time.Time // the time of the last sign of life
}

// lookQuietLocked returns the time of the next check while the process works without a request, or idleLook.
func (m *meter) lookQuietLocked(before *look, now time.Time) time.Duration {
	used, passed := m.last-before.used, now.Sub(before.since)
	before.since, before.used = now, m.last
	switch alone := len(m.running) == 0; {
	case m.ping.stray() && !alone:
		return longest
	case m.ping.stray():
		return quietLook
	case alone && used > passed/2:
		m.sendLocked()
		return quietLook
	case alone:
		return idleLook
	case used >= busy:
		m.rouseLocked()
		return shortest
	}
	return quietLook
}

// overLocked returns the reason to end the process of requests without a sign of life; nil for none. The caller
// holds m.mu.
func (m *meter) overLocked(silent time.Duration, among []*exchange) *ending {
	switch {
	case m.tooLarge(m.p.clock.memory()):
		return &ending{cause: byMemory, blamed: only(among), among: len(among)}
	case silent > m.p.w.stall:
		return &ending{cause: byStall, among: len(among)}
	}
	return nil
}

// look returns the time of the next check, idleLook without a request; or the reason to end the process.
func (m *meter) look(before *look) (next time.Duration, why *ending) {
	now := time.Now() //nolint:forbidigo // durations are made of it
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advanceLocked()
	if m.held {
		before.used, before.since = m.last, now
		m.judged, m.stray = now, 0
		return longest, nil
	}
	if m.straysLocked(now) {
		return 0, &ending{cause: byStray}
	}
	among := m.amongLocked()
	if len(among) == 0 {
		return m.lookQuietLocked(before, now), nil
	}
	signs := m.signs.Load()
	if signs != before.signs || m.last-before.used > busy/4 {
		before.since = now
	}
	works := m.last-before.used >= busy
	if m.ping != nil && signs != before.signs {
		m.ping.used = m.last
	}
	runs := m.last-before.used >= busy/4
	before.used, before.signs = m.last, signs
	if why := m.overLocked(now.Sub(before.since), among); why != nil {
		return 0, why
	}
	if m.ping == nil && (works || now.Sub(before.since) > quietPing) {
		m.sendLocked()
	}
	budget := m.p.w.o.Limits.Budget()
	if budget == 0 {
		return longest, nil
	}
	left := budget
	for _, x := range among {
		left = min(left, budget-x.share.alone)
	}
	if len(among) > 1 && m.ping != nil {
		turn := min(budget*time.Duration(len(among)), max(budget, turnTime))
		left = min(left, turn-(m.last-m.ping.used))
	}
	if left <= 0 {
		why = &ending{cause: byCPU, among: len(among)}
		for _, x := range among {
			if x.share.alone >= budget {
				why.blamed = x
			}
		}
		if why.blamed == nil {
			why.blamed = only(among)
		}
		return 0, why
	}
	next = min(max(left/2, shortest), longest)
	if m.ping == nil && runs {
		next = min(next, busy) // an early ping finds the request at fault more precisely
	}
	return next, nil
}

// only returns the single request; nil if there are several.
func only(among []*exchange) *exchange {
	if len(among) == 1 {
		return among[0]
	}
	return nil
}

// sendLocked sends a ping.
func (m *meter) sendLocked() {
	next := &ping{used: m.last, among: append([]*exchange(nil), m.running...)}
	m.ping = next
	m.p.w.work.Go(func() {
		ctx, cancel := context.WithCancel(m.p.w.ctx)
		defer cancel()
		observer := pingObserver{
			sent: func(dialled bool) {
				m.mu.Lock()
				defer m.mu.Unlock()
				next.sent, next.dials = true, dialled
			},
			turn: func() { m.answered(next) },
		}
		if err := m.p.observePing(ctx, observer); err != nil && m.p.ended() == nil {
			m.p.w.o.Logger.Debug("ping workerd", "error", err)
		}
		m.answered(next)
	})
}

// answered records the response to a ping.
func (m *meter) answered(p *ping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ping != p {
		return
	}
	m.advanceLocked()
	m.ping = nil
	for _, x := range m.running {
		if x.share.roused {
			x.share.quiet, x.share.roused = true, false
		}
	}
}
