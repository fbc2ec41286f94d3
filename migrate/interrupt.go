package migrate

import (
	"context"
	"database/sql"
	"reflect"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file ends statements when their context does. The driver starts a goroutine
// for each statement to watch its context, which takes a quarter of the time of
// small files; here one function watches for all statements of a file.

// interruptPause is after how long an interrupt is repeated: SQLite forgets one
// that comes between two statements.
const interruptPause = 5 * time.Millisecond

// interruptible runs fn, and when ctx ends it interrupts what fn runs on conn with
// a context that has no end.
func interruptible(ctx context.Context, conn *sql.Conn, fn func() error) error {
	var db uintptr
	err := conn.Raw(func(c any) error {
		v := reflect.Indirect(reflect.ValueOf(c))
		if v.Kind() != reflect.Struct || v.FieldByName("db").Kind() != reflect.Uintptr {
			return errForeignDriver
		}
		db = uintptr(v.FieldByName("db").Uint())
		return nil
	})
	if err != nil {
		return err
	}
	done, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		interrupt(db, done)
	})
	err = fn()
	if !stop() {
		close(done)
		<-gone
	}
	return err
}

// interrupt repeats itself until done.
func interrupt(db uintptr, done <-chan struct{}) {
	tls := libc.NewTLS()
	defer tls.Close()
	again := time.NewTicker(interruptPause)
	defer again.Stop()
	for {
		sqlite3.Xsqlite3_interrupt(tls, db)
		select {
		case <-done:
			return
		case <-again.C:
		}
	}
}
