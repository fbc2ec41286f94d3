package d1

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// Error is the text D1 gives behind "D1_ERROR: ".
func (e *sqlError) Error() string {
	return sqlitetext.Format(e.code, e.msg, e.offset)
}

// sqlRefusalError is a failure that SQLite has no part in.
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

// d1Error is err as a Worker sees it: "D1_ERROR: …", with the cause
// that D1 puts beside it.
func d1Error(err error) error {
	return prefixedError("D1_ERROR", "", err)
}

// prefixedError is "kind: place text"; its cause says the same without kind.
func prefixedError(kind, place string, err error) error {
	var own *engine.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	text := err.Error()
	if se := (*sqlite.Error)(nil); errors.As(err, &se) {
		text = sqlitetext.Of(se)
	}
	text = place + text
	return &engine.Error{
		Name: "Error", Message: kind + ": " + text,
		Props: []engine.Field{{Name: "cause", Value: &engine.Error{Name: "Error", Message: text}}},
	}
}

// timedOut tells an interrupt by the time limit from one by the request's
// end, and any other error from both.
func timedOut(ctx context.Context, limit time.Duration, err error) error {
	var se *sqlError
	if err == nil || !errors.As(err, &se) || se.code != sqlite3.SQLITE_INTERRUPT {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &sqlError{se.code, fmt.Sprintf("the query took longer than its limit of %v and was stopped", limit), -1}
}

func unsupportedType(v any) error {
	kind := "object"
	if u, ok := v.(engine.Unsupported); ok {
		kind = u.Type
	}
	return &engine.Error{Name: "Error", Message: fmt.Sprintf("D1_TYPE_ERROR: Type '%s' not supported for a bound value", kind)}
}

func columnNotFound(column string) error {
	return &engine.Error{
		Name: "Error", Message: "D1_COLUMN_NOTFOUND: Column not found (" + column + ")",
		Props: []engine.Field{{Name: "cause", Value: &engine.Error{Name: "Error", Message: "Column not found"}}},
	}
}
