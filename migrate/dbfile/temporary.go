package dbfile

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Temporary bounds SQLite's temporary files, which hold sorted and materialized data that does not fit into memory; SQLite has no such
// bound. It is the system's VFS, except for writes to files that are deleted on close. Open connections with its name as the query
// parameter vfs.
type Temporary struct {
	// PerFile bounds one file, Together all files of all connections, in bytes. A write
	// beyond a bound fails with SQLITE_FULL.
	PerFile, Together int64

	base  uintptr // the system's sqlite3_vfs
	taken atomic.Int64

	refused, failed atomic.Int64 // writes
}

// temporaryFile is an open file. One goroutine at a time uses it.
type temporaryFile struct {
	of      *Temporary
	methods uintptr // the system's sqlite3_io_methods
	length  int64
}

var (
	// bounds maps each of our sqlite3_vfs to its Temporary, and open each file to its temporaryFile.
	bounds, open sync.Map
	// methodsOf holds our sqlite3_io_methods for the system's. There are few.
	methodsOf sync.Map
	making    sync.Mutex
)

// Register registers the bound with SQLite under a name, for the life of the process.
func (b *Temporary) Register(name string) error {
	tls := libc.NewTLS()
	defer tls.Close()
	b.base = sqlite3.Xsqlite3_vfs_find(tls, 0)
	if b.base == 0 {
		return errors.New("SQLite has no VFS")
	}
	zName, err := libc.CString(name)
	if err != nil {
		return err
	}
	vfs := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if vfs == 0 {
		return errors.New("no memory for a VFS")
	}
	own := at[sqlite3.Tsqlite3_vfs](vfs)
	*own = *at[sqlite3.Tsqlite3_vfs](b.base)
	own.FpNext, own.FzName, own.FxOpen = 0, zName, openC
	bounds.Store(vfs, b)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, vfs, 0); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite takes no VFS")
	}
	return nil
}

// Taken is the size of all temporary files together.
func (b *Temporary) Taken() int64 { return b.taken.Load() }

// Refused is the number of writes that exceeded a bound so far.
func (b *Temporary) Refused() int64 { return b.refused.Load() }

// Failed is the number of writes that the system refused so far.
func (b *Temporary) Failed() int64 { return b.failed.Load() }

// at returns the value at an address of the translated C.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	writeFunc = func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	sizeFunc  = func(tls *libc.TLS, file uintptr, size int64) int32
	closeFunc = func(tls *libc.TLS, file uintptr) int32
)

// Functions as the translated C calls them: a pointer to a pointer to the code, which is constant
// for a function that is not a closure.
var (
	openC     = *(*uintptr)(unsafe.Pointer(&struct{ f openFunc }{openTemporary}))
	writeC    = *(*uintptr)(unsafe.Pointer(&struct{ f writeFunc }{writeTemporary}))
	truncateC = *(*uintptr)(unsafe.Pointer(&struct{ f sizeFunc }{truncateTemporary}))
	closeC    = *(*uintptr)(unsafe.Pointer(&struct{ f closeFunc }{closeTemporary}))
)

// function returns a function of the translated C.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&struct{ f uintptr }{pointer})) }

func openTemporary(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	found, _ := bounds.Load(vfs)
	b, ok := found.(*Temporary)
	if !ok {
		return sqlite3.SQLITE_CANTOPEN
	}
	rc := function[openFunc](at[sqlite3.Tsqlite3_vfs](b.base).FxOpen)(tls, b.base, name, file, flags, outFlags)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE == 0 {
		return rc
	}
	methods := at[sqlite3.Tsqlite3_file](file).FpMethods
	if own := boundedMethods(tls, methods); own != 0 {
		open.Store(file, &temporaryFile{of: b, methods: methods})
		at[sqlite3.Tsqlite3_file](file).FpMethods = own
	}
	return rc
}

// boundedMethods returns the methods of a file with ours among them; 0 without memory.
func boundedMethods(tls *libc.TLS, methods uintptr) uintptr {
	making.Lock()
	defer making.Unlock()
	if found, ok := methodsOf.Load(methods); ok {
		own, _ := found.(uintptr)
		return own
	}
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if own == 0 {
		return 0
	}
	all := at[sqlite3.Tsqlite3_io_methods](own)
	*all = *at[sqlite3.Tsqlite3_io_methods](methods)
	all.FxWrite, all.FxTruncate, all.FxClose = writeC, truncateC, closeC
	methodsOf.Store(methods, own)
	return own
}

// openFile returns a temporary file with the system's methods.
func openFile(file uintptr) (*temporaryFile, *sqlite3.Tsqlite3_io_methods) {
	found, _ := open.Load(file)
	f, ok := found.(*temporaryFile)
	if !ok {
		return nil, nil
	}
	return f, at[sqlite3.Tsqlite3_io_methods](f.methods)
}

func writeTemporary(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	f, system := openFile(file)
	if f == nil {
		return sqlite3.SQLITE_IOERR
	}
	if more := offset + int64(n) - f.length; more > 0 {
		if offset+int64(n) > f.of.PerFile {
			f.of.refused.Add(1)
			return sqlite3.SQLITE_FULL
		}
		if f.of.taken.Add(more) > f.of.Together {
			f.of.taken.Add(-more)
			f.of.refused.Add(1)
			return sqlite3.SQLITE_FULL
		}
		f.length += more
	}
	rc := function[writeFunc](system.FxWrite)(tls, file, from, n, offset)
	if rc != sqlite3.SQLITE_OK {
		f.of.failed.Add(1)
	}
	return rc
}

func truncateTemporary(tls *libc.TLS, file uintptr, size int64) int32 {
	f, system := openFile(file)
	if f == nil {
		return sqlite3.SQLITE_IOERR
	}
	rc := function[sizeFunc](system.FxTruncate)(tls, file, size)
	if rc == sqlite3.SQLITE_OK && size < f.length {
		f.of.taken.Add(size - f.length)
		f.length = size
	}
	return rc
}

func closeTemporary(tls *libc.TLS, file uintptr) int32 {
	f, system := openFile(file)
	if f == nil {
		return sqlite3.SQLITE_IOERR
	}
	open.Delete(file)
	f.of.taken.Add(-f.length)
	return function[closeFunc](system.FxClose)(tls, file)
}
