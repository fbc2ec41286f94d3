package transfer

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
)

// ScriptOptions say how a script is run.
type ScriptOptions struct {
	// Args are the values of the parameters, of a script of one statement.
	Args []any
	// Dump passes over what a dump says of its own transaction and of foreign keys: BEGIN, COMMIT and PRAGMA
	// foreign_keys. The script is one transaction in any case.
	Dump bool
	// CheckKeys refuses rows that name rows that do not exist, where the DB does not.
	CheckKeys bool
	// Last runs in the transaction, after the script.
	Last func(ctx context.Context) error
}

// Ran says what a script did.
type Ran struct {
	Statements int   `json:"statements"`
	Changes    int64 `json:"changes"` // rows written
}

// Script runs the SQL of r as one transaction; name is what positions show.
func Script(ctx context.Context, db DB, name string, r io.Reader, o ScriptOptions) (ran Ran, err error) {
	err = transaction(ctx, db, func() error {
		if err := ran.all(ctx, db, migrate.NewStatements(name, r), o); err != nil {
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

func (r *Ran) all(ctx context.Context, db DB, in *migrate.Statements, o ScriptOptions) error {
	for {
		s, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return BlameText(err)
		}
		if o.Dump && frame(s.Text) {
			continue
		}
		if err := r.statement(ctx, db, s, o.Args); err != nil {
			if e, ok := errors.AsType[*Error](err); ok && o.Dump && strings.Contains(e.Msg, `"writable_schema"`) {
				e.Fix = "sqlite3 dumps virtual tables so, and they cannot be made that way: read the database file " +
					"itself, pages db import FILE.db"
			}
			return err
		}
	}
}

func (r *Ran) statement(ctx context.Context, db DB, s migrate.Statement, args []any) error {
	changes, err := db.Run(ctx, s.Text, args, nil, nil)
	if err != nil {
		return Blame(s, err)
	}
	if db.Idle() {
		e := &Error{
			Code: CodeEnded, Msg: "the statement ended the transaction it is part of",
			Fix: "take ROLLBACK out of the statement or trigger",
		}
		e.Pos, e.Source, e.SourceColumn = s.At(0)
		return e
	}
	r.Statements++
	r.Changes += changes
	return nil
}

var framing = regexp.MustCompile(
	`(?i)^(BEGIN(\s+(DEFERRED|IMMEDIATE|EXCLUSIVE))?(\s+TRANSACTION)?|(COMMIT|END)(\s+TRANSACTION)?|PRAGMA\s+foreign_keys\s*=\s*\w+)\s*;?$`,
)

// frame reports whether a statement is what a dump puts around its own.
func frame(text string) bool { return len(text) < 80 && framing.MatchString(strings.TrimSpace(text)) }
