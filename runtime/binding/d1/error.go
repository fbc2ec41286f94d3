package d1

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/binding/sqlitetext"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// sqlError is a failure as SQLite reports it.
type sqlError struct {
	code   int // extended result code
	msg    string
	offset int // byte in the SQL that the message is about; -1 when unknown
}

// Code is SQLite's extended result code.
func (e *sqlError) Code() int { return e.code }

// Error is the text D1 gives after "D1_ERROR: ".
func (e *sqlError) Error() string {
	return sqlitetext.Format(e.code, e.msg, e.offset)
}

// sqlRefusalError is a refusal of this package, not of SQLite.
type sqlRefusalError string

func (e sqlRefusalError) Error() string { return string(e) }

const (
	errBindings     = sqlRefusalError("Wrong number of parameter bindings for SQL query.")
	errNoStatement  = sqlRefusalError("No SQL statements detected.")
	errNoCode       = sqlRefusalError("SQL code did not contain a statement.")
	errEarlyBinding = sqlRefusalError("When executing multiple SQL statements in a single call, only the last " +
		"statement can have parameters.")
	errResultSize = sqlRefusalError("the result is larger than 64 MiB; ask for fewer rows or columns")
	errClosed     = sqlRefusalError("the database is closed")
)

var errLongValue = &sqlError{sqlite3.SQLITE_TOOBIG, "string or blob too big", -1}

var errReadOnly = &sqlError{
	sqlite3.SQLITE_READONLY, "attempt to write a readonly database: the manifest gives this site \"read\" access only",
	-1,
}

// prefixedError is err as a Worker sees it, "kind: place text", with D1's cause: the same without kind.
func prefixedError(kind, place string, err error) error {
	if _, ok := errors.AsType[*engine.Error](err); err == nil || ok {
		return err
	}
	text := err.Error()
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		text = sqlitetext.Of(failed)
	}
	text = place + text
	return &engine.Error{
		Name: "Error", Message: kind + ": " + text,
		Props: []engine.Field{{Name: "cause", Value: &engine.Error{Name: "Error", Message: text}}},
	}
}
