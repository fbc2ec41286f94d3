package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Kept is the number of copies for [Migrator.Undo]. A copy gets its name only once it is complete and on disk.
const Kept = 10

const (
	savingPrefix = ".saving-"
	undoneFile   = "undone.db"
	undoTime     = "20060102T150405Z"
)

var (
	savingName = regexp.MustCompile(`^\.saving-[0-9]+$`) // made by os.CreateTemp from savingPrefix
	undoName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{6,})_([0-9]{8}T[0-9]{6}Z)_[0-9]+\.db$`) })
)

// Copy is one copy of the database from before a run.
type Copy struct {
	Path   string
	Number int       // counts copies from 1; the highest is the newest
	MadeAt time.Time // in UTC, to the second
	Bytes  int64
}

// Copies returns the copies, the newest first.
func (m *Migrator) Copies() ([]Copy, error) {
	if m.o.UndoDir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(m.o.UndoDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, undoError("the copies cannot be read", err)
	}
	var list []Copy
	for _, e := range entries {
		parts := undoName().FindStringSubmatch(e.Name())
		info, err := e.Info()
		if parts == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		n, _ := strconv.Atoi(parts[1]) // it has only digits
		at, _ := time.Parse(undoTime, parts[2])
		list = append(list, Copy{filepath.Join(m.o.UndoDir, e.Name()), n, at, info.Size()})
	}
	slices.SortFunc(list, func(a, b Copy) int { return strings.Compare(filepath.Base(b.Path), filepath.Base(a.Path)) })
	return list, nil
}

func undoError(what string, err error) *Error {
	e := databaseError(what, err)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		e.Code, e.Msg = CodeDatabaseUnavailable, what+": "+pe.Err.Error()
		e.Fix = "free some disk space, or give yourself permission to write to the folder"
	}
	return e
}

// copyForUndo copies the database of a run. keep names the copy and removes older ones; after a run without changes,
// call drop.
func (m *Migrator) copyForUndo(ctx context.Context, conn *sql.Conn) (keep, drop func() error, err error) {
	file, err := m.save(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	drop = func() error { return os.Remove(file) }
	keep = func() error {
		older, err := m.Copies()
		if err != nil {
			return err
		}
		number := 1
		if len(older) > 0 {
			number = older[0].Number + 1
		}
		random := strings.TrimPrefix(filepath.Base(file), savingPrefix)
		name := fmt.Sprintf("%06d_%s_%s.db", number, m.o.Now().UTC().Format(undoTime), random)
		if err := errors.Join(os.Rename(file, filepath.Join(m.o.UndoDir, name)), dbfile.SyncFolder(os.Open, m.o.UndoDir)); err != nil {
			return undoError("the copy of the database cannot be saved", err)
		}
		for i, c := range older {
			if i >= Kept-1 {
				err = errors.Join(err, os.Remove(c.Path))
			}
		}
		return err
	}
	return keep, drop, nil
}

// save copies the database to a file under a temporary name. It removes copies and folders of new databases that
// killed processes left.
func (m *Migrator) save(ctx context.Context, conn *sql.Conn) (file string, err error) {
	const what = "the database cannot be copied for undo"
	if err := os.MkdirAll(m.o.UndoDir, 0o700); err != nil {
		return "", undoError(what, err)
	}
	entries, err := os.ReadDir(m.o.UndoDir)
	if err != nil {
		return "", undoError(what, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && savingName.MatchString(e.Name()) && m.o.Now().Sub(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(m.o.UndoDir, e.Name())) // the next run tries again
		}
	}
	f, err := os.CreateTemp(m.o.UndoDir, savingPrefix+"*")
	if err != nil {
		return "", undoError(what, err)
	}
	file = f.Name()
	err = dbfile.Copy(ctx, conn, file)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(undoError(what, err), os.Remove(file))
	}
	return file, nil
}

// abandoned is the age after which no process can still be writing an unnamed copy.
const abandoned = time.Hour

// Undo restores the database from before the newest run, and returns the copy that it used. It saves the present contents
// for [Migrator.Redo]. Each is one transaction: other connections stay usable.
func (m *Migrator) Undo(ctx context.Context) (Copy, error) {
	list, err := m.Copies()
	if err != nil {
		return Copy{}, err
	}
	if len(list) == 0 {
		return Copy{}, refuse(CodeNoUndo, "there is no copy of the database from before a run",
			"rebuild the database with pages migrate reset, or list saved states with pages state list")
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return Copy{}, databaseError("the database cannot be opened", err)
	}
	defer conn.Close()
	undone, err := m.save(ctx, conn)
	if err != nil {
		return Copy{}, err
	}
	if err := restoreFile(ctx, conn, list[0].Path); err != nil {
		return Copy{}, errors.Join(databaseError("the copy cannot be restored", err), os.Remove(undone))
	}
	err = errors.Join(
		os.Rename(undone, filepath.Join(m.o.UndoDir, undoneFile)), os.Remove(list[0].Path),
		dbfile.SyncFolder(os.Open, m.o.UndoDir),
	)
	if err != nil {
		return list[0], undoError("the database is restored, but its list of copies cannot be updated", err)
	}
	return list[0], nil
}

// Redo restores the database from before the last Undo, which can then be repeated.
func (m *Migrator) Redo(ctx context.Context) error {
	undone := filepath.Join(m.o.UndoDir, undoneFile)
	if _, err := os.Stat(undone); m.o.UndoDir == "" || errors.Is(err, fs.ErrNotExist) {
		return refuse(CodeNoUndo, "nothing was undone", "run pages migrate undo first")
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return databaseError("the database cannot be opened", err)
	}
	defer conn.Close()
	keep, drop, err := m.copyForUndo(ctx, conn)
	if err != nil {
		return err
	}
	if err := restoreFile(ctx, conn, undone); err != nil {
		return errors.Join(databaseError("the copy cannot be restored", err), drop())
	}
	return errors.Join(keep(), os.Remove(undone))
}

// Reset rebuilds the database: it applies all files to an empty one, which then replaces the old contents in one
// transaction. A failed file leaves the database unchanged.
func (m *Migrator) Reset(ctx context.Context) (result Result, err error) {
	set, err := m.read()
	if err != nil {
		return Result{}, err
	}
	dir, err := os.MkdirTemp(m.o.UndoDir, savingPrefix+"*")
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(m.o.UndoDir, 0o700)
		if err == nil {
			dir, err = os.MkdirTemp(m.o.UndoDir, savingPrefix+"*")
		}
	}
	if err != nil {
		return Result{}, undoError("a new database cannot be created", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "new.db")
	db, err := sql.Open("sqlite", dbfile.URI(file, "_pragma=foreign_keys(1)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)"))
	if err != nil {
		return Result{}, databaseError("a new database cannot be created", err)
	}
	r, err := m.replay(ctx, db, set, nil)
	if r != nil {
		result = r.result
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return result, err
	}
	return result, m.replace(ctx, file, set)
}

// replace replaces the contents of the database with those of a file, and keeps a copy for undo.
func (m *Migrator) replace(ctx context.Context, file string, set fileSet) error {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return databaseError("the database cannot be opened", err)
	}
	defer conn.Close()
	keep := func() error { return nil }
	drop := keep
	if m.o.UndoDir != "" {
		if keep, drop, err = m.copyForUndo(ctx, conn); err != nil {
			return err
		}
	}
	if err := restoreFile(ctx, conn, file); err != nil {
		return errors.Join(databaseError("the new database cannot replace the old one", err), drop())
	}
	if err := keep(); err != nil {
		return err
	}
	return (&run{conn: conn, set: set, o: m.o}).checkTables(ctx)
}

// restoreFile replaces the contents of conn's database with those of a database file.
func restoreFile(ctx context.Context, conn *sql.Conn, file string) error {
	if err := checkFile(ctx, file); err != nil {
		return err
	}
	return dbfile.Restore(ctx, conn, dbfile.URI(file, "mode=rw"))
}

var errDamaged = errors.New("the copy is damaged")

// checkFile verifies a whole database file before it replaces another.
func checkFile(ctx context.Context, file string) error {
	const header = "SQLite format 3\x00"
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	head := make([]byte, len(header))
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) {
		err = nil // an empty file is an empty database
	}
	if err = errors.Join(err, f.Close()); err != nil || n > 0 && string(head) != header {
		return errors.Join(errDamaged, err)
	}
	db, err := sql.Open("sqlite", dbfile.URI(file, "mode=ro"))
	if err != nil {
		return err
	}
	var said string
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said)
	if err = errors.Join(err, db.Close()); err == nil && said != "ok" {
		return errDamaged
	}
	return err
}
