package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"go/token"
	"slices"
)

// Plan compares files with the database's ledger and writes nothing. files
// may be in any order. The refusals of all files are reported together; the
// Status then holds what could still be told.
func Plan(ctx context.Context, db *sql.DB, files []File, o Options) (Status, error) {
	set, err := newFileSet(files)
	if err != nil {
		return Status{}, err
	}
	applied, err := readLedger(ctx, db)
	if err != nil {
		return Status{}, databaseError("the migrations ledger cannot be read", err)
	}
	return set.compare(applied, o)
}

// fileSet is the files in the order they are applied, checked and hashed
// once: a run compares them with the ledger again for every file.
type fileSet struct {
	files []File
	sums  map[string]string
}

func newFileSet(files []File) (fileSet, error) {
	set := fileSet{
		files: slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) }),
		sums:  make(map[string]string, len(files)),
	}
	errs := collisions(set.files)
	for _, f := range set.files {
		set.sums[f.Name] = f.Sum()
		if err := f.checkSize(); err != nil {
			errs = append(errs, err)
		}
	}
	return set, errs.orNil()
}

// compare is the rule of what may run: every applied file is present with
// the sum it had, and every new one sorts after the last applied one.
func (s fileSet) compare(applied []Entry, o Options) (Status, error) {
	status := Status{Applied: applied}
	known := make(map[string]Entry, len(applied))
	last := ""
	for _, e := range applied {
		known[e.Name] = e
		last = max(last, e.Name)
	}
	errs := s.missing(applied)
	for _, f := range s.files {
		e, done := known[f.Name]
		switch {
		case done && e.SHA256 != s.sums[f.Name]:
			errs = append(errs, f.errorWhole(CodeChecksumMismatch,
				fmt.Sprintf("the migration changed after it was applied on %s", e.AppliedAt.Format("2006-01-02 15:04:05 UTC")),
				"restore the file as it was and put the change into a new migration, or reset the local database"))
		case done:
		case f.Name < last && !o.AllowOutOfOrder:
			errs = append(errs, f.errorWhole(CodeOutOfOrder,
				fmt.Sprintf("the new migration sorts before %q, which is already applied", last),
				"rename it so that it sorts last"))
		default:
			if f.Name < last {
				status.Warnings = append(status.Warnings, Notice{
					f.Name, CodeOutOfOrder,
					fmt.Sprintf("%q is applied after %q, which sorts behind it: a new database gets them in the other order", f.Name, last),
				})
			}
			status.Pending = append(status.Pending, f)
		}
	}
	return status, errs.orNil()
}

func (s fileSet) missing(applied []Entry) Errors {
	var errs Errors
	for _, e := range applied {
		if _, present := s.sums[e.Name]; !present {
			errs = append(errs, &Error{
				Pos: token.Position{Filename: e.Name}, Code: CodeMissing,
				Msg: "the migration is applied but its file is gone",
				Fix: "restore the file under its old name, or reset the local database",
			})
		}
	}
	return errs
}
