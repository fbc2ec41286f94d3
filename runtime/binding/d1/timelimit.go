package d1

import (
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file bounds what a connection runs by time without a timer, which would
// cost a short query as much as the query: SQLite itself asks now and then
// whether it is to go on.

const (
	// moment is how long a query may hold up the isolate that asks for it.
	moment = 500 * time.Microsecond
	// slowUses is how often a statement that took longer is not asked to be quick:
	// it may have had to wait for a processor only.
	slowUses = 100
	// askedEvery is after how many of its instructions SQLite asks, some
	// microseconds of them.
	askedEvery = 1000
)

// momentEnds has, of each connection, when it is to stop: in nanoseconds since
// clockStart, 0 for never. SQLite hands a callback nothing but a number.
var (
	momentEnds sync.Map     // uintptr of the sqlite3 to *int64, which one goroutine uses
	clockStart = time.Now() //nolint:forbidigo // what is compared with it is spent time
)

func spentTime() int64 { return int64(time.Since(clockStart)) }

// limitMoments makes the connection ask.
func (h *sqlHandle) limitMoments() {
	h.end = new(int64)
	momentEnds.Store(h.db, h.end)
	sqlite3.Xsqlite3_progress_handler(h.tls, h.db, askedEvery, momentOverC, h.db)
}

func (h *sqlHandle) forgetMoments() {
	sqlite3.Xsqlite3_progress_handler(h.tls, h.db, 0, 0, 0)
	momentEnds.Delete(h.db)
}

// momentOverC is momentOver as the translated C calls it: a pointer to a pointer
// to the code, which a function that is no closure has for ever.
var momentOverC = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{momentOver}))

// momentOver answers whether what db runs must stop: 1 stops it.
func momentOver(_ *libc.TLS, db uintptr) int32 {
	found, _ := momentEnds.Load(db)
	if end, ok := found.(*int64); ok && *end != 0 && spentTime() > *end {
		return 1
	}
	return 0
}

// runBriefly runs fn on the connection, and interrupts what fn runs once limit has
// passed. over is whether it had.
func (h *sqlHandle) runBriefly(limit time.Duration, fn func() error) (over bool, err error) {
	end := spentTime() + int64(limit)
	*h.end = end
	err = h.conn.Raw(func(any) error { return fn() })
	*h.end = 0
	return spentTime() > end, err
}
