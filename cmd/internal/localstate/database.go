package localstate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// sqlitePage is SQLite's default page size in bytes.
const sqlitePage = 4096

// OpenDatabase opens a database in WAL mode with every commit synced: the power-loss tests show that this loses no acknowledged commit.
func OpenDatabase(ctx context.Context, path string, readOnly bool) (*sql.DB, error) {
	return openBounded(ctx, path, readOnly, Bounds{})
}

// The largest number of connections to a database. Each holds one or two files open; a caller that needs another connection waits.
const (
	// workerConns is the number of connections to a database that Workers query. Each Worker uses up to five connections, and a replaced
	// Worker drains for a while.
	workerConns = 32
	// StoreConns is the number of connections to the database of a bucket or a key-value namespace.
	StoreConns = 4
	// UsualConns is for any other database.
	UsualConns = 8
	// ConnIdle is how long an idle connection stays open. SQLite closes the files only with the last connection of the process, so all of
	// them must close.
	ConnIdle = 10 * time.Second
)

// Bounds limits the resources of a database. The zero value limits only its connections.
type Bounds struct {
	conns     int    // connections at a time; 0 means UsualConns
	Bytes     int64  // size of its file; 0 for no bound
	Temporary string // name of the dbfile.Temporary of its connections
}

// openBounded is OpenDatabase with bounds, which SQLite keeps in each connection.
func openBounded(ctx context.Context, path string, readOnly bool, b Bounds) (*sql.DB, error) {
	q := url.Values{
		"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(16777216)"},
		"_txlock": {"immediate"},
	}
	if b.Bytes > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", max(1, b.Bytes/sqlitePage)))
	}
	if b.Temporary != "" {
		q.Set("vfs", b.Temporary)
	}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		_ = OwnFile(path) // SQLite reports a file that cannot be made
		q.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", dbfile.URI(path, q.Encode()))
	if err != nil {
		return nil, err
	}
	conns := cmp.Or(b.conns, UsualConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // otherwise each surplus connection would be closed after each use
	db.SetConnMaxIdleTime(ConnIdle)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OwnFile creates the file of a database with a mode that lets only its owner read it: SQLite's own mode allows everyone, and the folder
// may be shared. The log gets the mode of the file. OwnFile does not open an existing file, because closing it would end this process's
// locks on it.
func OwnFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenUnsynced opens a database for data that may be lost when power fails. It has one connection, so commits stay in
// order; they reach the disk later.
func OpenUnsynced(ctx context.Context, path string) (*sql.DB, error) {
	db, err := OpenDatabase(ctx, path, false)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Migrator returns the migrator of an open database of the site in dir. The rest of o is the caller's.
func (s *State) Migrator(db *sql.DB, dir string, m *manifest.Manifest, o migrate.Options) *migrate.Migrator {
	o.Dir, o.Tables, o.Word = m.Bindings.Database.Migrations, m.Bindings.Database.Tables, wording.ShellWord
	o.UndoDir = filepath.Join(s.Dir, statefolder.UndoFolder)
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	var files fs.FS
	if m.Bindings.Database.Migrations != "" {
		files = os.DirFS(dir)
	}
	return migrate.New(db, files, o)
}
