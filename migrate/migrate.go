// Package migrate brings a SQLite database to the state that a directory of
// .sql files describes, and keeps a ledger of what it did.
//
// In go the files of one directory ([Read]) and an open database; out come
// the files that are applied and pending ([Plan]), or were applied just now
// ([Apply]), or would be ([Rehearse]). Files run in bytewise filename order
// (platform document, section 2.9: "applied in filename order").
//
// Each file is one transaction, together with its row in the ledger table
// _pages_migrations: either all of a file and its row are durable, or
// neither is. There is no SQL splitter. SQLite reads every statement itself,
// under an authorizer that refuses what would leave the transaction or the
// database: transaction control, ATTACH, VACUUM, TEMP objects, PRAGMAs that
// are not on a short list, and any write to a _pages_ table. An applied file
// that changed or vanished, and a new file that sorts before an applied one,
// are refused before anything runs.
//
// Every refusal is an [Error] with a stable code and, where a file is to
// blame, the line and column in it; several at once come as [Errors].
//
// All functions may be called concurrently. Two runners on one database are
// kept apart by BEGIN IMMEDIATE and by reading the ledger again inside the
// transaction; a runner that cannot get the write lock within the
// connection's busy timeout fails with migration_locked.
//
// The package opens no database, takes no lock file, and never undoes an
// applied file.
package migrate

import (
	"time"
)

// Options says how files are compared and applied. The zero value is the
// strict behaviour of a publish.
type Options struct {
	// Now gives the time for the ledger and for durations. Default time.Now.
	Now func() time.Time
	// Tool is written to the ledger, such as "pages 1.2.0". Default "pages".
	Tool string
	// AllowOutOfOrder applies a new file that sorts before an applied one and
	// warns, where the default is to refuse.
	AllowOutOfOrder bool
	// Tables are names that must exist as a table or view after Apply:
	// bindings.database.tables and the submissions table. Default none.
	Tables []string
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now() //nolint:forbidigo // the default of an injected clock
	}
	return o.Now()
}

func (o Options) tool() string {
	if o.Tool == "" {
		return "pages"
	}
	return o.Tool
}

// Entry is one applied file.
type Entry struct {
	// Name is the file's base name, the ledger's key.
	Name string
	// SHA256 is the [File.Sum] the file had when it was applied.
	SHA256 string
	// N counts applications on this database from 1.
	N int
	// AppliedAt is when its transaction began, in UTC, to the millisecond.
	AppliedAt time.Time
	// Tool is the [Options.Tool] that applied it.
	Tool string
	// DurationMS is how long the file took, in milliseconds; 0 for entries
	// read back from the ledger, which does not keep it.
	DurationMS float64
}

// Status is what [Plan] found.
type Status struct {
	// Applied are the ledger's entries in the order they were applied.
	Applied []Entry
	// Pending are the files [Apply] would run, in that order.
	Pending []File
	// Warnings are things to look at that refuse nothing.
	Warnings []Notice
}

// Result is what [Apply] did or [Rehearse] tried.
type Result struct {
	// Applied are the files that ran, in order, also when a later one failed.
	Applied []Entry
	// Warnings are things to look at that refuse nothing.
	Warnings []Notice
}
