// Package migrate brings a SQLite database to the state that a folder of .sql files describes, and keeps a ledger of its runs.
//
// Input: an open database and a file system that holds the folder ([New]). Output: the applied and pending files ([Migrator.Status]), a
// plan ([Migrator.Plan], [Migrator.Rehearse]) or the result of a run ([Migrator.Apply], [Migrator.Reset], [Migrator.Undo]). Files run in
// bytewise filename order (platform document, section 2.9: "applied in filename order"). Each call reads the folder once, and hashes
// exactly the bytes that run.
//
// Each file is one transaction, together with its row in the ledger table _pages_migrations: a file and its row become
// durable together. With [Options.Atomic] all files of a run are one transaction. There is no SQL splitter. SQLite
// reads every statement itself, under an authorizer that refuses actions that would leave the transaction or the
// database: transaction control, ATTACH, VACUUM, TEMP objects, PRAGMAs that are not on a short list, and any write to
// a _pages_ table. An applied file that changed or vanished, and a new file that sorts before an applied one, are
// refused before anything runs. A statement over a limit of the platform's databases is refused; over the limit of
// steps it only gets a warning.
//
// A [Plan] runs the files on a copy, and lists the existing rows and values that each statement removes ([Loss]):
// deleted, dropped, replaced, removed by a foreign key or a trigger, not copied to a rebuilt table, cut by another
// type. Other changes of values by an UPDATE are not losses: they are its purpose.
//
// Every refusal is an [Error] with a stable code and, for a fault in a file, its line and column; several are
// [Errors].
//
// All functions may be called concurrently. Two runners on one database are kept apart by BEGIN IMMEDIATE, and each
// reads the ledger again inside the transaction; a runner that cannot get the write lock within the connection's busy
// timeout fails with migration_locked. A context that ends rolls the running file back.
//
// The package opens no database but private temporary ones, and the copies of [Options.UndoDir]; it takes no lock
// file, and writes no migration.
package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"io/fs"
	"time"
)

// Options select the files and the way to apply them. The zero value is the strict behaviour of a publish.
type Options struct {
	// Dir is the folder of the migrations in the file system. Default ".".
	Dir string
	// Now is the clock for the ledger and for durations. Default time.Now.
	Now func() time.Time
	// Tool is written to the ledger, such as "pages 1.2.0". Default "pages".
	Tool string
	// More are files after those of the folder, such as one that is not written yet. Default none.
	More []File
	// AllowOutOfOrder applies a new file that sorts before an applied one, with a warning. Default is to refuse it.
	AllowOutOfOrder bool
	// HoldEmpty ends a run before the first file without a statement, which its author has yet to write. Default is
	// to apply it.
	HoldEmpty bool
	// Atomic applies all pending files in one transaction, or none of them. The default is a transaction for each file.
	Atomic bool
	// Apply calls Judge with its Plan before it commits; an error of Judge ends the run, and Apply returns that error. Judge makes the
	// run Atomic. The Plan covers exactly the rows that the run changes: if another connection writes in between, Apply calls Judge
	// again while writers wait. It needs a database with two connections. Default is to judge nothing.
	Judge func(Plan) error
	// MaxSteps bounds one statement, in instructions of SQLite's virtual machine; a longer one is
	// refused. Default is no bound.
	MaxSteps int64
	// Tables are names that must exist as a table or view after Apply: bindings.database.tables and the submissions
	// table. Default none.
	Tables []string
	// UndoDir is a folder for copies of the database from before each Apply and Reset; the last ten are kept. It
	// is created when missing. Default is to keep none.
	UndoDir string
	// Word quotes the name of a file for a command in a fix. Default is the name as it is.
	Word func(name string) string
	// Plan bounds [Migrator.Plan].
	Plan PlanOptions
	// Progress is called before each file runs, on the caller's goroutine.
	Progress func(Progress)
}

// Progress names the current file, number Done+1 of Total.
type Progress struct {
	Name        string
	Done, Total int
}

// Migrator is one database and the folder of its migrations.
type Migrator struct {
	db   *sql.DB
	fsys fs.FS
	o    Options
	full func() (msg, fix string) // the bound that a full database exceeded; "" for a full disk; may be nil
}

// New returns the migrator of an open database, which the caller closes. It reads nothing. A nil fsys has no files.
func New(db *sql.DB, fsys fs.FS, o Options) *Migrator {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Word == nil {
		o.Word = func(name string) string { return name }
	}
	o.Tool, o.Dir = cmp.Or(o.Tool, "pages"), cmp.Or(o.Dir, ".")
	return &Migrator{db: db, fsys: fsys, o: o}
}

// Entry is one applied file.
type Entry struct {
	Name       string    // the file's base name, the ledger's key
	SHA256     string    // the [File.Sum] the file had when it was applied
	Position   int       // counts applications on this database from 1
	AppliedAt  time.Time // when its transaction began, in UTC, to the millisecond
	DurationMS float64   // milliseconds; 0 for a file that [Migrator.Repair] recorded
	Tool       string    // the [Options.Tool] that applied it
}

// Result reports a run, or a trial on a copy.
type Result struct {
	Applied   []Entry  // the files that ran, in order, even if a later one failed
	Failed    string   // the file that failed, and left no trace; "" for none
	TakenBack []string // files that ran before it and were rolled back too, as with [Options.Atomic]
	Remaining []string // the files that did not run
	Squashed  []string // files that were recorded in place of the files they replace
	Warnings  []Notice
}

// Status compares the folder with the ledger.
type Status struct {
	Applied    []Entry // the ledger's entries in the order in which they were applied
	Pending    []File  // the files that [Migrator.Apply] would run, in that order
	Edited     []File  // applied files whose text has changed since
	Missing    []Entry // applied files that no longer exist
	OutOfOrder []File  // new files that sort before an applied one; with [Options.AllowOutOfOrder] they are pending too
	Squashed   []File  // files that replace several applied ones; the next Apply records them in their place
	Warnings   []Notice

	refusals Errors
	adopt    []adoption
}

// Refusal returns the error with which Apply would refuse to run, or nil.
func (s Status) Refusal() error { return s.refusals.orNil() }

// Status compares the folder with the ledger, and writes nothing. A difference is not an error.
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
