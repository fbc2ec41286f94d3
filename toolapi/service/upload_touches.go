package service

import (
	"sync"
	"time"
)

// touches keeps when uploads were last used, so that a blob is not one more commit.
type touches struct {
	mu  sync.Mutex
	ids map[string]touch
}

type touch struct{ last, written int64 }

// note notes a use, and reports whether it is time to write it down.
func (l *touches) note(id string, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]touch{}
	}
	t := l.ids[id]
	t.last = max(t.last, at.UnixMilli())
	due := t.last-t.written >= touchStep.Milliseconds()
	if due {
		t.written = t.last
	}
	l.ids[id] = t
	return due
}

func (l *touches) last(id string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids[id].last
}

// clean forgets what is written down and rests.
func (l *touches) clean(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, t := range l.ids {
		if now.UnixMilli()-t.last > 2*touchStep.Milliseconds() && t.written == t.last {
			delete(l.ids, id)
		}
	}
}
