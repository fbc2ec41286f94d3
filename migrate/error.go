package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/token"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The codes of [Error] and [Notice]. They are stable.
const (
	CodeChecksumMismatch   = "migration_checksum_mismatch"
	CodeMissing            = "migration_missing"
	CodeOutOfOrder         = "migration_out_of_order"
	CodeStatementForbidden = "migration_statement_forbidden" // what begins or ends a transaction
	CodeAttach             = "migration_attach_forbidden"
	CodeVacuum             = "migration_vacuum_forbidden"
	CodePragma             = "migration_pragma_forbidden"
	CodeFunction           = "migration_function_forbidden"
	CodeModule             = "migration_module_forbidden"
	CodeTemporary          = "migration_temporary_forbidden"
	CodeLedger             = "migration_ledger_forbidden" // what writes to a table of the platform's
	CodeParameter          = "migration_parameter_forbidden"
	CodeFailed             = "migration_failed"
	CodeForeignKeys        = "migration_foreign_keys"
	CodeLocked             = "migration_locked"
	CodeNotText            = "migration_not_text"
	CodeTooLarge           = "migration_too_large"
	CodeNameInvalid        = "migration_name_invalid"
	CodeNameCollision      = "migration_name_collision"
	CodeTableMissing       = "migration_table_missing"
	CodeUnreadable         = "migration_unreadable"
	CodeCancelled          = "migration_cancelled"
	CodeRepair             = "migration_repair_refused"
	CodeSquash             = "migration_squash_refused"
	CodeNumbering          = "migration_numbering"
	CodeNoUndo             = "migration_nothing_to_undo"
	CodePending            = "migration_pending"
	CodeOverLimit          = "migration_over_limit" // also of notices

	CodeDatabaseReadOnly    = "database_read_only"
	CodeDatabaseDamaged     = "database_damaged"
	CodeDatabaseFull        = "database_full"
	CodeDatabaseUnavailable = "database_unavailable"

	// Codes of notices only.
	CodeHeld            = "migration_without_statement"
	CodeSquashed        = "migration_squashed"
	CodeIgnored         = "migration_ignored"
	CodeEmpty           = "migration_directory_empty"
	CodeOrderAmbiguous  = "migration_order_ambiguous"
	CodeNumberDuplicate = "migration_number_duplicate"
	CodeDown            = "migration_down_file"
	CodeCascade         = "migration_cascade"
)

// Error is one refusal or failure.
type Error struct {
	// Pos is where in the author's own file; zero when no file is to blame,
	// and without a line when the whole file is. Columns count characters.
	Pos token.Position
	// Code is one of the Code constants.
	Code string
	// Msg says what is wrong, Fix what to do about it; Fix may be empty.
	Msg, Fix string
	// Table is the one of [Options.Tables] that there is not; empty with other codes.
	Table string

	cause error
}

// Error gives position and message on one line.
func (e *Error) Error() string {
	if e.Pos.Filename == "" && !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap gives the driver's or the context's error, if one is behind e.
func (e *Error) Unwrap() error { return e.cause }

// Errors is several refusals, in file order.
type Errors []*Error

// Error gives one line for each.
func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first *Error.
func (l Errors) Unwrap() []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

func (l Errors) orNil() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	default:
		return l
	}
}

// Notice is something the author should know that refuses nothing.
type Notice struct {
	// Name is the file or directory entry it is about.
	Name string
	// Pos is where in it; without a line when all of it is meant.
	Pos token.Position
	// Code is one of the Code constants, Msg a sentence without full stop.
	Code, Msg string
}

// databaseError maps a failure that is no file's fault to a code. what says
// what was being done.
func databaseError(what string, err error) *Error {
	e := &Error{Code: CodeFailed, Msg: what + ": " + message(err), cause: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.Code, e.Fix = CodeCancelled, "run it again: the file that was running is rolled back"
		return e
	}
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return e
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Code, e.Fix = CodeLocked, "wait for the other command that uses this database, or stop it"
	case sqlite3.SQLITE_READONLY:
		e.Code, e.Fix = CodeDatabaseReadOnly, "make the database file and its directory writable"
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		e.Code, e.Fix = CodeDatabaseDamaged, "restore the database from a copy, or reset the local state"
	case sqlite3.SQLITE_FULL:
		e.Code, e.Fix = CodeDatabaseFull, "free disk space and run it again"
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		e.Code, e.Fix = CodeDatabaseUnavailable, "check that the database's directory exists and can be read and written"
	}
	return e
}

// blamesDatabase reports whether e is about the database or the run and not
// about what a file says.
func (e *Error) blamesDatabase() bool { return e.Code != CodeFailed }

// message is SQLite's own text of err. The driver writes
// "class: text (code)", and no class holds a colon.
func message(err error) string {
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err.Error()
	}
	s := strings.TrimSuffix(se.Error(), " (SQLITE_BUSY)")
	s = strings.TrimSuffix(s, fmt.Sprintf(" (%d)", se.Code()))
	if _, text, ok := strings.Cut(s, ": "); ok {
		return text
	}
	return s
}

func isBusy(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code()&0xff == sqlite3.SQLITE_BUSY
}

func isForeignKey(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

func violation(table, parent string, rowid sql.NullInt64) string {
	row := "a row"
	if rowid.Valid {
		row = fmt.Sprintf("row %d", rowid.Int64)
	}
	return fmt.Sprintf("%s of %q names a row of %q that does not exist", row, table, parent)
}
