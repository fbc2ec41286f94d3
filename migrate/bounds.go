package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file bounds the work of files on an empty database: only the files can cause it, and their author may be a stranger.

// Bounds on a private database.
const (
	scratchPages     = 1 << 16 // of 4096 bytes
	scratchBytes     = scratchPages * 4096
	scratchTemporary = 2 * scratchBytes // for a temporary file of SQLite; the database is one too
	scratchTogether  = 8 * scratchBytes
	scratchTime      = time.Minute // for all files
	scratchFS        = "pages-scratch"
)

// UsualSteps is a value for [Options.MaxSteps] on an empty database. A machine takes about five seconds for so many steps; a statement that
// writes a million rows needs a sixth of them.
const UsualSteps = 200_000_000

var scratchFiles = &dbfile.Temporary{PerFile: scratchTemporary, Together: scratchTogether}

var boundScratch = sync.OnceValue(func() error { return scratchFiles.Register(scratchFS) })

const (
	endlessFix = "make it end, for example with a LIMIT in its recursion; load rows with pages db import"
	bulkFix    = "remove the rows from the file, and load them with pages db import"
)

// boundedScratch opens an empty private database within the bounds.
func boundedScratch(ctx context.Context) (*sql.DB, error) {
	if err := boundScratch(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:?vfs="+scratchFS+"&_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", scratchPages)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// boundedReplay applies files to such a database within the time left, and reduces it.
func (m *Migrator) boundedReplay(ctx context.Context, db *sql.DB, set fileSet, left *time.Duration) error {
	of := *m
	of.o.MaxSteps = UsualSteps
	refused, failed := scratchFiles.Refused(), scratchFiles.Failed()
	of.full = func() (msg, fix string) {
		switch {
		case scratchFiles.Refused() > refused:
			return fmt.Sprintf("the statement sorts more than %s on an empty database", bytesText(scratchTemporary)), bulkFix
		case scratchFiles.Failed() > failed:
			return "", ""
		}
		return fmt.Sprintf("with this statement, an empty database grows over %s", bytesText(scratchBytes)), bulkFix
	}
	bounded, stop := context.WithTimeout(ctx, *left)
	defer stop()
	begin := m.o.Now()
	_, err := of.replay(bounded, db, set, nil)
	*left -= m.o.Now().Sub(begin)
	if e, ok := errors.AsType[*Error](err); ok && bounded.Err() != nil && ctx.Err() == nil {
		return &Error{
			Pos: e.Pos, Code: CodeEndless, Fix: endlessFix, cause: err,
			Msg: fmt.Sprintf("the statement was stopped: the files take longer than %s on an empty database", scratchTime),
		}
	}
	return err
}

// boundOf names the bound in the error of a full database.
func (r *run) boundOf(e *Error) {
	if e.Code != CodeDatabaseFull || r.full == nil {
		return
	}
	if msg, fix := r.full(); msg != "" {
		e.Code, e.Msg, e.Fix = CodeOverBounds, msg, fix
	}
}

// errEndless ends a statement at [Options.MaxSteps].
var errEndless = errors.New("the statement takes too many steps")

func (f File) endless(s span, steps int64) *Error {
	return &Error{
		Pos: position(f.path(), f.SQL, s.start), Code: CodeEndless, Fix: endlessFix, cause: errEndless,
		Msg: fmt.Sprintf("the statement has not ended after %d million steps of SQLite", steps/1e6),
	}
}

// stepsAtOnce is the number of steps between two checks of the bound.
const stepsAtOnce = 100_000

type progressFunc = func(tls *libc.TLS, argument uintptr) int32

// progressC is the progress handler as the translated C calls it.
var progressC = *(*uintptr)(unsafe.Pointer(&struct{ f progressFunc }{progress}))

func progress(_ *libc.TLS, argument uintptr) int32 {
	left := *(**int64)(unsafe.Pointer(&argument))
	if *left -= stepsAtOnce; *left > 0 {
		return 0
	}
	return 1
}

// withSteps runs fn with [Options.MaxSteps] as the bound of each statement on the connection.
func (r *run) withSteps(c connection, fn func() error) error {
	if r.o.MaxSteps <= 0 {
		return fn()
	}
	tls := libc.NewTLS()
	defer tls.Close()
	memory := libc.Xmalloc(tls, 8)
	if memory == 0 {
		return errNoMemory
	}
	defer libc.Xfree(tls, memory)
	r.steps = *(**int64)(unsafe.Pointer(&memory))
	sqlite3.Xsqlite3_progress_handler(tls, uintptr(c), stepsAtOnce, progressC, memory)
	defer func() {
		sqlite3.Xsqlite3_progress_handler(tls, uintptr(c), 0, 0, 0)
		r.steps = nil
	}()
	*r.steps = r.o.MaxSteps
	return fn()
}
