package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// interruptPause is the time between repeated interrupts: SQLite forgets one that comes between two
// statements.
const interruptPause = 5 * time.Millisecond

// connection is a connection's own handle, the sqlite3 of the C interface.
type connection uintptr

func (c connection) inTransaction() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	return sqlite3.Xsqlite3_get_autocommit(tls, uintptr(c)) == 0
}

// hasOrphans reports whether COMMIT would fail: SQLite counts the rows that lost their parent, until it is inserted
// again. A table under the name of a dropped one does not change the count.
func (c connection) hasOrphans() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	counts := libc.Xmalloc(tls, 8)
	defer libc.Xfree(tls, counts)
	sqlite3.Xsqlite3_db_status(tls, uintptr(c), sqlite3.SQLITE_DBSTATUS_DEFERRED_FKS, counts, counts+4, 0)
	return libc.AtomicLoadPInt32(counts) != 0
}

// flush writes the changed pages of the open transaction to the disk.
func (c connection) flush() error {
	tls := libc.NewTLS()
	defer tls.Close()
	rc := sqlite3.Xsqlite3_db_cacheflush(tls, uintptr(c))
	if rc == sqlite3.SQLITE_OK {
		return nil
	}
	return databaseError("the migration cannot be written", &resultError{int(rc), libc.GoString(sqlite3.Xsqlite3_errstr(tls, rc))})
}

// resultError is the failure of an SQLite function that the driver does not offer.
type resultError struct {
	code int
	text string
}

func (e *resultError) Error() string { return e.text }

// Code is the result code of SQLite.
func (e *resultError) Code() int { return e.code }

func (c connection) setBusyTimeout(d time.Duration) {
	tls := libc.NewTLS()
	defer tls.Close()
	sqlite3.Xsqlite3_busy_timeout(tls, uintptr(c), int32(d.Milliseconds())) //nolint:gosec // as it was read
}

// setDefensive makes SQLite refuse SQL that could damage the database file.
func (c connection) setDefensive(on bool) {
	tls := libc.NewTLS()
	defer tls.Close()
	arguments := libc.Xmalloc(tls, 32)
	defer libc.Xfree(tls, arguments)
	value := int32(0)
	if on {
		value = 1
	}
	sqlite3.Xsqlite3_db_config(tls, uintptr(c), sqlite3.SQLITE_DBCONFIG_DEFENSIVE, libc.VaList(arguments, value, uintptr(0)))
}

// handleOf returns the handle of a connection, a private field of the driver.
func handleOf(conn *sql.Conn) (c connection, err error) {
	err = conn.Raw(func(driverConn any) error {
		v := reflect.Indirect(reflect.ValueOf(driverConn))
		if v.Kind() != reflect.Struct || v.FieldByName("db").Kind() != reflect.Uintptr {
			return dbfile.ErrDriver
		}
		c = connection(v.FieldByName("db").Uint())
		return nil
	})
	return c, err
}

// image is the bytes of a database in SQLite's own memory. The bytes are copied once.
type image struct {
	memory uintptr
	size   int64
}

// serialize copies the database of the connection.
func (c connection) serialize() (i image, err error) {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString("main")
	if err != nil {
		return i, err
	}
	defer libc.Xfree(tls, name)
	size := libc.Xmalloc(tls, 8)
	if size == 0 {
		return i, errNoMemory
	}
	defer libc.Xfree(tls, size)
	i.memory = sqlite3.Xsqlite3_serialize(tls, uintptr(c), name, size, 0)
	if i.memory == 0 {
		return i, errNoMemory
	}
	i.size = **(**int64)(unsafe.Pointer(&size))
	return i, nil
}

func (i *image) free() {
	tls := libc.NewTLS()
	defer tls.Close()
	sqlite3.Xsqlite3_free(tls, i.memory)
	*i = image{}
}

// attachImage attaches an image as a schema, to read it. The connection then owns the image.
func (c connection) attachImage(schema string, of *image) error {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString(schema)
	if err != nil {
		return err
	}
	defer libc.Xfree(tls, name)
	// A database in WAL mode needs files; for reading only, rollback mode does as well
	// (https://www.sqlite.org/fileformat2.html, section 1.3.4).
	header := unsafe.Slice(*(**byte)(unsafe.Pointer(&of.memory)), of.size)
	header[18], header[19] = 1, 1
	const flags = sqlite3.SQLITE_DESERIALIZE_FREEONCLOSE | sqlite3.SQLITE_DESERIALIZE_READONLY
	rc := sqlite3.Xsqlite3_deserialize(tls, uintptr(c), name, of.memory, of.size, of.size, flags)
	*of = image{} // SQLite frees it, even on failure
	if rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not take the copy (%d)", rc)
	}
	return nil
}

var errNoMemory = errors.New("no memory for a copy of the database")

// withInterrupt runs fn, and when ctx ends it interrupts the statements that fn runs on conn with
// a context that has no end. The driver would start a goroutine for each statement to watch its
// context, which takes a quarter of the time of small files.
func withInterrupt(ctx context.Context, conn *sql.Conn, fn func(connection) error) error {
	c, err := handleOf(conn)
	if err != nil {
		return err
	}
	done, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		tls := libc.NewTLS()
		defer tls.Close()
		again := time.NewTicker(interruptPause)
		defer again.Stop()
		for {
			sqlite3.Xsqlite3_interrupt(tls, uintptr(c))
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	})
	err = fn(c)
	if !stop() {
		close(done)
		<-gone
	}
	return err
}
