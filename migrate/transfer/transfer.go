// Package transfer moves data between a SQLite database and text: it runs SQL scripts, writes a database out as one,
// and reads comma-separated values into a table.
//
// In goes a [DB], which is one connection, and a reader or writer; all of a call is one transaction on it. What is
// wrong with the text, or happens on its behalf, is an [*Error] with the place in the text, and nothing of the call
// stands then. Texts may be of any length: a statement, or a row, is held at a time.
//
// The package opens nothing, and does not say which SQL is allowed: that is the DB's part.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
)

// DB is one connection to a database.
type DB interface {
	// Run runs one statement, as binding.Console does: values are nil, int64, float64, string or []byte.
	Run(
		ctx context.Context, text string, args []any, begin func(columns []string) error, row func(values []any) error,
	) (changes int64, err error)
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	// Rollback undoes the transaction, and does nothing when none is open.
	Rollback(ctx context.Context) error
	// Idle reports whether no transaction is open.
	Idle() bool
}

// The codes of [Error]. They are stable.
const (
	CodeStatement = "sql_failed"
	CodeText      = "sql_not_text"
	CodeEnded     = "sql_transaction_ended"
	CodeKeys      = "sql_foreign_keys"
	CodeCSV       = "csv_invalid"
	CodeTable     = "table_missing"
	CodeColumn    = "column_missing"
)

// Error is what is wrong with a text, or failed on its behalf.
type Error struct {
	// Pos is where in the text; columns count characters. It is zero when no place is to blame.
	Pos token.Position
	// Source is the line, or the part of it that begins at column SourceColumn.
	Source       string
	SourceColumn int
	// Code is one of the Code constants. Msg says what is wrong, Fix what to do about it.
	Code, Msg, Fix string

	cause error
}

func (e *Error) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap gives the database's error, if one is behind e.
func (e *Error) Unwrap() error { return e.cause }

// located is an error that knows its byte in the statement; -1 for none.
type located interface {
	error
	At() int
}

// Blame puts a failure of a statement at its place in the text.
func Blame(s migrate.Statement, err error) error {
	at, ok := errors.AsType[located](err)
	if !ok {
		return err // the end of the context, or the writer's own
	}
	e := &Error{Code: CodeStatement, Msg: at.Error(), Fix: migrate.ForeignFix([]byte(s.Text), at.Error()), cause: err}
	offset := at.At()
	if offset < 0 {
		offset = s.Culprit(at.Error())
	}
	e.Pos, e.Source, e.SourceColumn = s.At(offset)
	return e
}

// BlameText is a refusal of the text itself.
func BlameText(err error) error {
	refusal, ok := errors.AsType[*migrate.Error](err)
	if !ok {
		return err
	}
	return &Error{Pos: refusal.Pos, Code: CodeText, Msg: refusal.Msg, Fix: refusal.Fix, cause: refusal}
}

// transaction runs fn in one transaction: all of it stands, or nothing.
func transaction(ctx context.Context, db DB, fn func() error) (err error) {
	if err := db.Begin(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Rollback(ctx))
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	err = db.Commit(ctx)
	if keys, ok := errors.AsType[interface {
		error
		ForeignKey() bool
	}](err); ok && keys.ForeignKey() {
		if found := violations(ctx, db, err); found != nil {
			return found
		}
		return settle(ctx, db)
	}
	return err
}

// settle commits where every row has its parent and SQLite holds that some do not: it counts those that lost one until
// that is inserted again, and knows nothing of a table that was made anew and given the old one's name.
func settle(ctx context.Context, db DB) error {
	if _, err := db.Run(ctx, "PRAGMA defer_foreign_keys=OFF", nil, nil, nil); err != nil {
		return err
	}
	return db.Commit(ctx)
}

// violations says which rows a commit failed for; nil when there is none.
func violations(ctx context.Context, db DB, cause error) error {
	first, n := "", 0
	_, err := db.Run(ctx, "PRAGMA foreign_key_check", nil, nil, func(v []any) error {
		if n++; n == 1 {
			row := "a row"
			if id, ok := v[1].(int64); ok {
				row = fmt.Sprintf("row %d", id)
			}
			first = fmt.Sprintf("%s of %q names a row of %q that does not exist", row, v[0], v[2])
		}
		return nil
	})
	if err != nil {
		return errors.Join(cause, err)
	}
	if n == 0 {
		return nil
	}
	if n > 1 {
		first += fmt.Sprintf(", and %d more", n-1)
	}
	return &Error{Code: CodeKeys, Msg: first, Fix: "add the rows that are named, or change the rows that name them", cause: cause}
}

// quoteName quotes the name of a table or column.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
