// Package transfer moves data between a SQLite database and text: it runs SQL scripts, writes a database out as one,
// and reads comma-separated values into a table.
//
// Input: a [DB], which is one connection, and a reader or writer. Each call is one transaction on it. A fault of the
// text, or a failure of one of its statements, gives an [*Error] with the place in the text, and a rollback. Texts may
// be of any length: one statement or row is in memory at a time.
//
// The package opens nothing. The DB decides which SQL is allowed.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/migrate"
)

// DB is one connection to a database.
type DB interface {
	// Run runs one statement, as d1.Console does: values are nil, int64, float64, string or []byte.
	Run(
		ctx context.Context, text string, args []any, begin func(columns []string) error, row func(values []any) error,
	) (changes int64, err error)
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	// Rollback undoes the transaction, if one is open.
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

// Error is a fault of a text, or a failure of one of its statements.
type Error struct {
	// Pos is the place in the text; columns count characters. It is zero when no place is to blame.
	Pos token.Position
	// Source is the line, or the part of it that begins at column SourceColumn.
	Source       string
	SourceColumn int
	// Code is one of the Code constants. Msg describes the fault, Fix the remedy.
	Code, Msg, Fix string

	cause error
}

func (e *Error) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the database's error, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// locatedError is an error with its byte in the statement; -1 for none.
type locatedError interface {
	error
	At() int
}

// Blame returns a failure of a statement with its place in the text.
func Blame(s migrate.Statement, err error) error {
	failed, ok := errors.AsType[locatedError](err)
	if !ok {
		return err // from the context or the writer
	}
	e := &Error{Code: CodeStatement, Msg: failed.Error(), Fix: migrate.ForeignFix([]byte(s.Text), failed.Error()), cause: err}
	offset := failed.At()
	if offset < 0 {
		offset = s.Culprit(failed.Error())
	}
	e.Pos, e.Source, e.SourceColumn = s.At(offset)
	return e
}

// BlameText returns a refusal of the text itself as an *Error.
func BlameText(err error) error {
	refusal, ok := errors.AsType[*migrate.Error](err)
	if !ok {
		return err
	}
	return &Error{Pos: refusal.Pos, Code: CodeText, Msg: refusal.Msg, Fix: refusal.Fix, cause: refusal}
}

// transaction runs fn in one transaction, which it commits or rolls back.
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
		// SQLite counts rows that lost their parent until it is inserted again; a table that is rebuilt under the old
		// name does not change the count. This resets it.
		if _, err := db.Run(ctx, "PRAGMA defer_foreign_keys=OFF", nil, nil, nil); err != nil {
			return err
		}
		return db.Commit(ctx)
	}
	return err
}

// violations returns the error of rows without their parent; nil when there is none.
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
	return &Error{Code: CodeKeys, Msg: first, Fix: "add the missing rows, or change the rows that refer to them", cause: cause}
}

// ScriptOptions are the options of [Script].
type ScriptOptions struct {
	Args      []any                           // values of the parameters, for a script of one statement
	Dump      bool                            // skip the BEGIN, COMMIT and PRAGMA foreign_keys of a dump
	CheckKeys bool                            // refuse rows without their parent, which the DB accepts
	Last      func(ctx context.Context) error // runs in the transaction, after the script
}

// Ran counts the statements of a script.
type Ran struct {
	Statements int   `json:"statements"`
	Changes    int64 `json:"changes"` // rows written
}

// Script runs the SQL of r as one transaction; name stands in positions.
func Script(ctx context.Context, db DB, name string, r io.Reader, o ScriptOptions) (ran Ran, err error) {
	err = transaction(ctx, db, func() error {
		if err := ran.run(ctx, db, migrate.NewStatements(name, r), o); err != nil {
			return err
		}
		if o.CheckKeys {
			if err := violations(ctx, db, nil); err != nil {
				return err
			}
		}
		if o.Last != nil {
			return o.Last(ctx)
		}
		return nil
	})
	return ran, err
}

func (r *Ran) run(ctx context.Context, db DB, in *migrate.Statements, o ScriptOptions) error {
	for {
		s, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return BlameText(err)
		}
		if o.Dump && len(s.Text) < 80 && dumpFrame().MatchString(strings.TrimSpace(s.Text)) {
			continue
		}
		changes, err := db.Run(ctx, s.Text, o.Args, nil, nil)
		if err != nil {
			err = Blame(s, err)
			if e, ok := errors.AsType[*Error](err); ok && o.Dump && strings.Contains(e.Msg, `"writable_schema"`) {
				e.Fix = "such dumps of virtual tables cannot be loaded: read the database file " +
					"itself, pages db import FILE.db"
			}
			return err
		}
		if db.Idle() {
			e := &Error{
				Code: CodeEnded, Msg: "the statement ended the transaction it is part of",
				Fix: "remove ROLLBACK from the statement or trigger",
			}
			e.Pos, e.Source, e.SourceColumn = s.At(0)
			return e
		}
		r.Statements++
		r.Changes += changes
	}
}

// dumpFrame matches the statements that a dump puts around the others.
var dumpFrame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(BEGIN(\s+(DEFERRED|IMMEDIATE|EXCLUSIVE))?(\s+TRANSACTION)?|(COMMIT|END)(\s+TRANSACTION)?|` +
			`PRAGMA\s+foreign_keys\s*=\s*\w+)\s*;?$`,
	)
})
