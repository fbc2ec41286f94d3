package runtime

import (
	"fmt"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// What one request may log. The platform's own figures are not shown; these are
// those of Workers, with a bound for the lines.
const (
	maxLogBytes = 256 << 10
	maxLogLines = 1000
)

// logQuota counts what requests have logged. The zero value is ready.
type logQuota struct {
	mu   sync.Mutex
	used map[*engine.Scope]*logged
}

type logged struct{ lines, bytes int }

// admit reports whether a line of so many bytes may be logged; last says, once
// for each scope, that this one is over and no more will come.
func (q *logQuota) admit(s *engine.Scope, size int) (ok, last bool) {
	if s.Context().Err() != nil { // nobody would forget it
		return true, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used == nil {
		q.used = map[*engine.Scope]*logged{}
	}
	l := q.used[s]
	if l == nil {
		l = &logged{}
		q.used[s] = l
	}
	if l.lines > maxLogLines || l.bytes > maxLogBytes {
		return false, false
	}
	l.lines++
	l.bytes += size
	over := l.lines > maxLogLines || l.bytes > maxLogBytes
	return !over, over
}

// forget is for the end of a scope.
func (q *logQuota) forget(s *engine.Scope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.used, s)
}

// overLogs is the line that stands for all further ones.
var overLogs = fmt.Sprintf("the log of this request ends here: it is over the limit of %d lines or %d KB", maxLogLines, maxLogBytes>>10)
