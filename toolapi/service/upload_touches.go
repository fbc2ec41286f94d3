package service

import (
	"sync"
	"time"
)

// uploadUses keeps when uploads were last used, so that a blob is not one more commit, and who sends.
type uploadUses struct {
	mu  sync.Mutex
	ids map[string]uploadUse
}

type uploadUse struct {
	last, written int64
	sending       int   // requests that are under way
	sent          int64 // when one of them ended
}

// send notes a request that sends to an upload, or finalizes it, until the returned function is called.
func (l *uploadUses) send(id string, now func() time.Time) (done func()) {
	l.change(id, func(t *uploadUse) { t.sending++ })
	return func() {
		l.change(id, func(t *uploadUse) { t.sending, t.sent = t.sending-1, now().UnixMilli() })
	}
}

func (l *uploadUses) change(id string, how func(*uploadUse)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]uploadUse{}
	}
	t := l.ids[id]
	how(&t)
	l.ids[id] = t
}

// isSending reports whether a client sends to an upload: now, or a moment ago, since between two blobs it reads the
// next one.
func (l *uploadUses) isSending(id string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.ids[id]
	return t.sending > 0 || t.sent > 0 && isWithin(sendingGap, now.Sub(time.UnixMilli(t.sent)))
}

// isWithin reports whether less than a time has passed; not when the clock was set back.
func isWithin(most, passed time.Duration) bool { return passed >= 0 && passed < most }

// note notes a use, and reports whether it is time to write it down.
func (l *uploadUses) note(id string, at time.Time) (due bool) {
	l.change(id, func(t *uploadUse) {
		t.last = max(t.last, at.UnixMilli())
		if due = t.last-t.written >= touchStep.Milliseconds(); due {
			t.written = t.last
		}
	})
	return due
}

func (l *uploadUses) last(id string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids[id].last
}

// clean forgets what is written down and rests.
func (l *uploadUses) clean(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, t := range l.ids {
		if now.UnixMilli()-max(t.last, t.sent) > 2*touchStep.Milliseconds() && t.written == t.last && t.sending == 0 {
			delete(l.ids, id)
		}
	}
}
