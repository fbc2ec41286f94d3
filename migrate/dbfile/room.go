package dbfile

import (
	"errors"
	"os"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FullDisk reports whether what a database in a folder failed with is that its disk is full. SQLite says so of the
// database's own file; of the shared memory beside it, which it makes when it opens one, it says "disk I/O error", and
// whether there is room is tried then.
func FullDisk(folder string, err error) bool {
	if isFull(err) {
		return true
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return true
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return isFull(tryRoom(folder))
	}
	return false
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// tryRoom writes and removes a file as long as the first step of such a shared memory.
func tryRoom(folder string) error {
	const step = 32 << 10
	probe, err := os.CreateTemp(folder, ".probe-*")
	if err != nil {
		return err
	}
	_, err = probe.Write(make([]byte, step))
	return errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name()))
}
