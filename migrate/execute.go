package migrate

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/token"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

func (r *run) execute(ctx context.Context, c connection, f File) error {
	r.losses, r.orphaned = nil, token.Position{}
	r.keyed = r.keyed || bytes.Contains(bytes.ToUpper(f.SQL), []byte("REFERENCES"))
	err := withGuard(ctx, r.conn, c, func(ctx context.Context, refused *refusal) error { return r.statements(ctx, c, f, refused) })
	if err != nil {
		return err
	}
	if !c.inTransaction() {
		return databaseError("the file's transaction ended before the file", errTransactionEnded)
	}
	if !r.keyed {
		return nil // SQLite would read every table in vain
	}
	if err := r.checkForeignKeys(ctx, f); err != nil {
		return err
	}
	if r.orphaned.IsValid() {
		return &Error{
			Pos: r.orphaned, Code: CodeForeignKeys,
			Msg: "this leaves rows without their parent, and a table that is given its name is no parent to them: " +
				"SQLite would refuse to commit",
			Fix: "begin the file with PRAGMA defer_foreign_keys = ON and end it with = OFF: SQLite then forgets them, " +
				"and the keys are checked all the same",
		}
	}
	return r.noticeLosses(ctx, f)
}

// errTransactionEnded cannot happen as long as the authorizer judges every statement: the file would not be in one
// transaction with its row in the ledger.
var errTransactionEnded = errors.New("no transaction is open")

// statements runs the file's spans one after the other. A span that SQLite calls incomplete was cut too early, and is
// tried again together with the next.
func (r *run) statements(ctx context.Context, c connection, f File, refused *refusal) error {
	spans := r.spans[f.Name]
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		err := r.exec(ctx, f, s, refused)
		for err != nil && err.Msg == incomplete && i+1 < len(spans) {
			i++
			s.end = spans[i].end
			err = r.exec(ctx, f, s, refused)
		}
		if err != nil {
			return err
		}
		switch {
		case !r.keyed:
		case !c.hasOrphans():
			r.orphaned = token.Position{}
		case !r.orphaned.IsValid():
			r.orphaned = position(f.path(), f.SQL, s.start)
		}
	}
	return nil
}

// statement runs text inside [withInterrupt], which ends it with ctx.
func (r *run) statement(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), text)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// incomplete is SQLite's message for text that ends within a statement.
const incomplete = "incomplete input"

func (r *run) exec(ctx context.Context, f File, s span, refused *refusal) *Error {
	text := string(f.SQL[s.start:s.end])
	*refused = refusal{}
	if firstWord(text) == "ALTER" { // SQLite does not ask the authorizer about a table's new name
		*refused = judgePrefix(ownPrefix(renameTarget(text)))
	}
	if refused.msg != "" {
		return f.refusal(s, refused, nil)
	}
	var err error
	if table := droppedTable(text); table != "" && r.keyed {
		err = r.dropTable(ctx, f, s, table)
	} else {
		err = r.statement(ctx, text)
	}
	begin := func() token.Position { return position(f.path(), f.SQL, s.start) } // which takes time
	if l, over := limitOf(text, err); over && r.o.Limited && l.id != sqlite3.SQLITE_LIMIT_VDBE_OP && refused.msg == "" {
		return &Error{
			Pos: begin(), Code: CodeOverLimit, Msg: "the platform refuses this statement: " + l.what,
			Fix: "do it in smaller ones", cause: err,
		}
	}
	if err != nil && refused.msg == "" {
		err = r.beyondLimits(ctx, f, s, err)
	}
	if err == nil {
		return nil
	}
	if refused.msg != "" {
		return f.refusal(s, refused, err)
	}
	if firstWord(text) == "VACUUM" {
		return &Error{
			Pos: begin(), Code: CodeVacuum, Msg: "a migration must not vacuum: it cannot be part of a transaction",
			Fix: "remove the statement; space of deleted rows is used again by itself", cause: err,
		}
	}
	e := databaseError("the statement fails", err)
	e.Pos = begin()
	if e.Code == CodeFailed { // else the database is to blame, or the run
		e.Msg = message(err)
		if name, ok := strings.CutPrefix(e.Msg, "no such function: "); ok && forbiddenFunctions[strings.ToLower(name)] {
			v := judgeAction(sqlite.AuthFunction, "", name, "") // SQLite asks about functions that it knows
			e.Code, e.Msg, e.Fix = v.code, v.msg, v.fix
		}
		if e.Fix == "" {
			e.Fix = cmp.Or(ForeignFix(f.SQL[s.start:s.end], e.Msg), renameFix(e.Msg))
		}
		e.Pos = position(f.path(), f.SQL, f.blame(s, e.Msg))
		if se, ok := errors.AsType[*sqlite.Error](err); ok && se.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
			e.Code, e.Fix = CodeForeignKeys, "insert the parent row first, or begin the file with PRAGMA defer_foreign_keys = ON"
		}
	}
	return e
}

func (f File) refusal(s span, r *refusal, err error) *Error {
	return &Error{Pos: position(f.path(), f.SQL, s.start), Code: r.code, Msg: r.msg, Fix: r.fix, cause: err}
}

// renameTarget returns the new name in ALTER TABLE … RENAME TO; "" for another statement.
func renameTarget(text string) string {
	var last [3]string // tokens
	src := []byte(text)
	for pos := 0; pos < len(src); {
		t := nextToken(src, pos)
		pos = t.end
		if t.kind != tokenSpace && t.kind != tokenSemicolon {
			last = [3]string{last[1], last[2], string(src[t.start:t.end])}
		}
	}
	if !strings.EqualFold(last[0], "RENAME") || !strings.EqualFold(last[1], "TO") {
		return ""
	}
	return unquote(last[2])
}

// renameFix returns the fix for a trigger or view that names a dropped table while another table is given the name of
// that table; "" for another message.
func renameFix(msg string) string {
	if named, ok := strings.CutPrefix(msg, "error in "); ok && strings.Contains(msg, ": no such table: ") {
		if what, _, _ := strings.Cut(named, ":"); strings.HasPrefix(what, "trigger ") || strings.HasPrefix(what, "view ") {
			return "drop the " + what + " before the table is dropped, and create it again at the end of the file"
		}
	}
	return ""
}

func unquote(name string) string { return strings.Trim(name, "\"'`[]") }

func firstWord(text string) string {
	return strings.ToUpper(text[:wordLength([]byte(text))])
}

// checkForeignKeys refuses a file that leaves a row without its parent. SQLite would notice only at COMMIT, and not name
// the row. It runs inside [withInterrupt].
func (r *run) checkForeignKeys(ctx context.Context, f File) error {
	rows, err := r.conn.QueryContext(context.WithoutCancel(ctx), "PRAGMA foreign_key_check")
	if err != nil {
		return f.keysUnchecked(err)
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var rowid sql.NullInt64
		var key int
		if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
			return f.keysUnchecked(err)
		}
		row := "a row"
		if rowid.Valid {
			row = fmt.Sprintf("row %d", rowid.Int64)
		}
		return f.errorWhole(CodeForeignKeys, fmt.Sprintf("%s of %q names a row of %q that does not exist", row, table, parent),
			"delete or repair the row in the same file")
	}
	if err := rows.Err(); err != nil {
		return f.keysUnchecked(err)
	}
	return nil
}

func (f File) keysUnchecked(err error) *Error {
	e := databaseError("foreign keys cannot be checked", err)
	e.Pos = token.Position{Filename: f.path()}
	return e
}
