package migrate

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// The codes of [Error] and [Notice]. They are stable.
const (
	CodeChecksumMismatch   = "migration_checksum_mismatch"
	CodeMissing            = "migration_missing"
	CodeOutOfOrder         = "migration_out_of_order"
	CodeStatementForbidden = "migration_statement_forbidden" // a statement that begins or ends a transaction
	CodeAttach             = "migration_attach_forbidden"
	CodeVacuum             = "migration_vacuum_forbidden"
	CodePragma             = "migration_pragma_forbidden"
	CodeFunction           = "migration_function_forbidden"
	CodeModule             = "migration_module_forbidden"
	CodeTemporary          = "migration_temporary_forbidden"
	CodeLedger             = "migration_ledger_forbidden" // a write to a table of the platform
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
	CodeOverLimit          = "migration_over_limit"  // also of notices
	CodeIgnored            = "migration_ignored"     // also of notices
	CodeEndless            = "migration_endless"     // over the bound of steps or time on an empty database
	CodeOverBounds         = "migration_over_bounds" // more memory or disk

	CodeDatabaseReadOnly    = "database_read_only"
	CodeDatabaseDamaged     = "database_damaged"
	CodeDatabaseFull        = "database_full"
	CodeDatabaseUnavailable = "database_unavailable"

	// Codes of notices only.
	CodeHeld            = "migration_without_statement"
	CodeSquashed        = "migration_squashed"
	CodeEmpty           = "migration_directory_empty"
	CodeOrderAmbiguous  = "migration_order_ambiguous"
	CodeNumberDuplicate = "migration_number_duplicate"
	CodeDown            = "migration_down_file"
	CodeCascade         = "migration_cascade"
	CodePragmaIdle      = "migration_pragma_without_effect"
	CodeKeyUnchecked    = "migration_foreign_key_unchecked"
	CodeDownSection     = "migration_down_section"
	CodeLossUnfounded   = "migration_loss_unfounded" // a comment that allows a loss that does not occur
	CodeLossCounted     = "migration_loss_counted"   // rows of the table cannot be matched
)

// Error is one refusal or failure.
type Error struct {
	// Pos is the place in the author's own file; zero when no file is to blame,
	// and without a line when the whole file is. Columns count characters.
	Pos token.Position
	// Code is one of the Code constants. Msg describes the fault, Fix the remedy; Fix may be empty.
	Code, Msg, Fix string
	// Table is the missing one of [Options.Tables]; empty with other codes.
	Table string

	cause error
}

func refuse(code, msg, fix string) *Error { return &Error{Code: code, Msg: msg, Fix: fix} }

// Error returns position and message on one line.
func (e *Error) Error() string {
	if e.Pos.Filename == "" && !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the driver's or the context's error, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// Errors is several refusals, in file order.
type Errors []*Error

// Error returns one line for each.
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

// Notice is a warning: it refuses nothing.
type Notice struct {
	Name      string         // the file or directory entry
	Pos       token.Position // the place in it; without a line for the whole file
	Code, Msg string         // one of the Code constants, and a sentence without full stop
}

// PlaceOf returns the file and line of the statement that an error of this package is about; "" for none.
func PlaceOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Pos.IsValid() {
		return fmt.Sprintf("%s:%d", e.Pos.Filename, e.Pos.Line)
	}
	return ""
}

// sqliteError is an error with a result code of SQLite: the driver's, or a resultError.
type sqliteError interface {
	error
	Code() int
}

// databaseError returns an error of the driver with its code, after the text what.
func databaseError(what string, err error) *Error {
	e := &Error{Code: CodeFailed, Msg: what + ": " + message(err), cause: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.Msg = what + ": it was interrupted"
		if errors.Is(err, context.DeadlineExceeded) {
			e.Msg = what + ": it ran out of time"
		}
		e.Code, e.Fix = CodeCancelled, "run it again: the file that was running was rolled back"
		return e
	}
	se, ok := errors.AsType[sqliteError](err)
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

// message returns SQLite's own text of err. The driver writes "class: text (code)", and no class holds a colon.
func message(err error) string {
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err.Error()
	}
	s := strings.TrimSuffix(se.Error(), " (SQLITE_BUSY)")
	s = strings.TrimSuffix(s, fmt.Sprintf(" (%d)", se.Code()))
	if _, text, ok := strings.Cut(s, ": "); ok {
		s = text
	}
	if s == "not an error" { // SQLite's text on a connection when another failed, such as that of a copy
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return "the disk is full"
		case sqlite3.SQLITE_IOERR:
			return "disk I/O error"
		default:
			return fmt.Sprintf("SQLite's error %d", se.Code())
		}
	}
	return s
}

func isBusy(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && se.Code()&0xff == sqlite3.SQLITE_BUSY
}

// foreignForms are forms of PostgreSQL and MySQL that SQLite does not read, with SQLite's counterparts. They
// match the text of [normalizeSpace].
var foreignForms = sync.OnceValue(func() []foreignForm {
	return []foreignForm{
		{regexp.MustCompile(`(?i)\bAUTO_INCREMENT\b`), "write INTEGER PRIMARY KEY, which numbers rows automatically"},
		{regexp.MustCompile(`(?i)\bNOW \( \)`), "write CURRENT_TIMESTAMP instead of NOW()"},
		{regexp.MustCompile(`(?i)\b(gen_random_uuid|uuid_generate_v4|uuid) \( \)`), "write (lower(hex(randomblob(16)))) for a random id"},
		{
			regexp.MustCompile(`(?i)\) (ENGINE|AUTO_INCREMENT|(DEFAULT )?(CHARSET|CHARACTER SET|COLLATE))\b`),
			"remove the options after the columns",
		},
		{regexp.MustCompile(`(?i)^DROP .* (CASCADE|RESTRICT)$`), "remove the last word"},
		{
			regexp.MustCompile(`(?i)^CREATE TYPE\b`),
			"remove the statement, and write TEXT CHECK (column IN ('a', 'b')) for a column of that type",
		},
		{regexp.MustCompile(`(?i)^CREATE EXTENSION\b`), "remove the statement: there are no extensions"},
		{regexp.MustCompile(`(?i)^(CREATE|ALTER) SEQUENCE\b`), "remove the statement: INTEGER PRIMARY KEY numbers rows automatically"},
		{regexp.MustCompile(`(?i)^((UN)?LOCK TABLES|SET)\b`), "remove the statement: it sets an option of a session"},
		{regexp.MustCompile(`(?i)^COPY .* FROM stdin$`), "dump INSERT statements: pg_dump --inserts"},
		{regexp.MustCompile(`(?i)\bpublic \. `), "remove the schema before the name: public"},
	}
})

type foreignForm struct {
	form *regexp.Regexp
	fix  string
}

// ForeignFix returns the fix for the first form of another database in a statement that SQLite refused with a message; "" for none.
func ForeignFix(statement []byte, msg string) string {
	if !strings.HasSuffix(msg, "syntax error") && !strings.HasPrefix(msg, "no such function") && msg != "unknown database public" {
		return ""
	}
	text, first, fix := normalizeSpace(statement), -1, ""
	for _, f := range foreignForms() {
		if at := f.form.FindStringIndex(text); at != nil && (first < 0 || at[0] < first) {
			first, fix = at[0], isSQLite+f.fix
		}
	}
	return fix
}

const isSQLite = "the database is SQLite: "

// normalizeSpace returns a statement with one space between its tokens, and empty quotes.
func normalizeSpace(statement []byte) string {
	var tokens []string
	for pos := 0; pos < len(statement); {
		t := sqltext.Next(statement, pos)
		pos = t.End
		switch t.Kind {
		case sqltext.Space, sqltext.Semicolon:
		case sqltext.Quoted:
			tokens = append(tokens, "''")
		default:
			tokens = append(tokens, string(statement[t.Start:t.End]))
		}
	}
	return strings.Join(tokens, " ")
}
