// Package migrate brings a SQLite database to the state that a folder of .sql files describes, and keeps a ledger of
// what it did.
//
// In go an open database and a file system that holds the folder ([New]); out come what is applied and pending
// ([Migrator.Status]), what would happen ([Migrator.Plan], [Migrator.Rehearse]) or what did ([Migrator.Apply],
// [Migrator.Reset], [Migrator.Undo]). Files run in bytewise filename order (platform document, section 2.9:
// "applied in filename order"). Each call reads the folder once; the bytes that are hashed are the bytes that run.
//
// Each file is one transaction, together with its row in the ledger table _pages_migrations: either all of a file
// and its row are durable, or neither is. There is no SQL splitter. SQLite reads every statement itself, under an
// authorizer that refuses what would leave the transaction or the database: transaction control, ATTACH, VACUUM,
// TEMP objects, PRAGMAs that are not on a short list, and any write to a _pages_ table. An applied file that
// changed or vanished, and a new file that sorts before an applied one, are refused before anything runs. What the
// platform's databases would refuse for its size alone runs, and is told, but with [Options.Limited].
//
// Every refusal is an [Error] with a stable code and, where a file is to blame, the line and column in it; several
// at once come as [Errors].
//
// All functions may be called concurrently. Two runners on one database are kept apart by BEGIN IMMEDIATE and by
// looking at the ledger again inside the transaction; a runner that cannot get the write lock within the
// connection's busy timeout fails with migration_locked. A context that ends rolls the running file back.
//
// The package opens no database but private temporary ones, and the copies of [Options.UndoDir]; it takes no lock
// file, and writes no migration.
package migrate

import (
	"context"
	"database/sql"
	"io/fs"
	"time"
)

// Options says which files are meant and how they are applied. The zero value is the strict behaviour of a publish.
type Options struct {
	// Dir is the folder of the migrations in the file system. Default ".".
	Dir string
	// Now gives the time for the ledger and for durations. Default time.Now.
	Now func() time.Time
	// Tool is written to the ledger, such as "pages 1.2.0". Default "pages".
	Tool string
	// AllowOutOfOrder applies a new file that sorts before an applied one and warns, where the default is to refuse.
	AllowOutOfOrder bool
	// HoldEmpty ends a run before the first file that has no statement yet, which someone is about to write. Default
	// is to apply it.
	HoldEmpty bool
	// Limited refuses a statement that is over a limit of the platform's databases, but for that of steps, where the
	// default is to run it without them and to warn.
	Limited bool
	// Tables are names that must exist as a table or view after Apply: bindings.database.tables and the submissions
	// table. Default none.
	Tables []string
	// UndoDir is a folder for copies of the database as it was before each Apply and Reset; the last ten are kept.
	// It is made when it is missing. Default is to keep none.
	UndoDir string
	// Word writes the name of a file into a command that a fix gives. Default is the name as it is.
	Word func(name string) string
	// Progress is told of each file before it runs, on the caller's goroutine. Default nobody.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	// Name is the file that runs now, the Done+1st of Total.
	Name        string
	Done, Total int
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now() //nolint:forbidigo // the default of an injected clock
	}
	return o.Now()
}

func (o Options) word(name string) string {
	if o.Word == nil {
		return name
	}
	return o.Word(name)
}

func (o Options) tool() string {
	if o.Tool == "" {
		return "pages"
	}
	return o.Tool
}

func (o Options) dir() string {
	if o.Dir == "" {
		return "."
	}
	return o.Dir
}

// Migrator is one database and the folder of its migrations.
type Migrator struct {
	db   *sql.DB
	fsys fs.FS
	o    Options
}

// New gives the migrator of an open database, which stays the caller's. Nothing is read yet. A nil fsys has no files.
func New(db *sql.DB, fsys fs.FS, o Options) *Migrator { return &Migrator{db: db, fsys: fsys, o: o} }

// Entry is one applied file.
type Entry struct {
	// Name is the file's base name, the ledger's key.
	Name string
	// SHA256 is the [File.Sum] the file had when it was applied.
	SHA256 string
	// Position counts applications on this database from 1.
	Position int
	// AppliedAt is when its transaction began, in UTC, to the millisecond.
	AppliedAt time.Time
	// DurationMS is how long the file took, in milliseconds; 0 for one that [Migrator.Repair] recorded.
	DurationMS float64
	// Tool is the [Options.Tool] that applied it.
	Tool string
}

// Result is what a run did, or tried on a copy.
type Result struct {
	// Applied are the files that ran, in order, also when a later one failed.
	Applied []Entry
	// Failed is the file that failed, and left nothing; "" when none did.
	Failed string
	// Remaining are the files that were not reached.
	Remaining []string
	// Squashed are files that were recorded in the place of those they stand for.
	Squashed []string
	// Warnings are things to look at that refuse nothing.
	Warnings []Notice
}

// Status is what the folder and the ledger say of each other.
type Status struct {
	// Applied are the ledger's entries in the order they were applied.
	Applied []Entry
	// Pending are the files [Migrator.Apply] would run, in that order.
	Pending []File
	// Edited are applied files whose text is no longer the one that ran.
	Edited []File
	// Missing are applied files that are gone.
	Missing []Entry
	// OutOfOrder are new files that sort before an applied one. With [Options.AllowOutOfOrder] they are pending too.
	OutOfOrder []File
	// Squashed are files that stand for several applied ones, and are recorded in their place by the next Apply.
	Squashed []File
	// Warnings are things to look at that refuse nothing.
	Warnings []Notice

	refusals Errors
	adopt    []adoption
}

// Refusal is why Apply would refuse; nil when it would not.
func (s Status) Refusal() error { return s.refusals.orNil() }

// Status compares the folder with the ledger, and writes nothing. It is an error when one of them cannot be read, and
// not when they differ.
func (m *Migrator) Status(ctx context.Context) (Status, error) {
	_, status, err := m.compare(ctx)
	return status, err
}

func (m *Migrator) compare(ctx context.Context) (fileSet, Status, error) {
	set, err := m.read()
	if err != nil {
		return fileSet{}, Status{}, err
	}
	ledger, err := readLedger(ctx, m.db)
	if err != nil {
		return fileSet{}, Status{}, databaseError("the migrations ledger cannot be read", err)
	}
	return set, set.compare(ledger, m.o), nil
}
