package migrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/token"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/rowlimit"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

func (r *run) execute(ctx context.Context, c connection, f File) error {
	r.severed, r.orphaned = nil, token.Position{}
	r.keyed = r.keyed || bytes.Contains(bytes.ToUpper(f.SQL), []byte("REFERENCES"))
	keys := r.keys
	if !r.keyed {
		keys = nil
	}
	err := withGuard(ctx, r.conn, c, listeners{r.watch, keys}, func(ctx context.Context, g *guard) error {
		return r.withSteps(c, func() error { return r.statements(ctx, c, f, g) })
	})
	if err != nil {
		return err
	}
	if !c.inTransaction() {
		return databaseError("the file's transaction ended before the file", errTransactionEnded)
	}
	if !r.keyed {
		return nil // saves a useless read of every table
	}
	if err := r.checkForeignKeys(ctx, f); err != nil {
		return err
	}
	if r.orphaned.IsValid() {
		return &Error{
			Pos: r.orphaned, Code: CodeForeignKeys,
			Msg: "this leaves rows without their parent, and a new table with its name does not become their parent: " +
				"SQLite would refuse to commit",
			Fix: "begin the file with PRAGMA defer_foreign_keys = ON and end it with = OFF: SQLite then forgets them, " +
				"and pages still checks the keys",
		}
	}
	return r.noticeSevered(ctx, f)
}

// errTransactionEnded is a safeguard: the authorizer refuses every statement that ends the transaction of a file
// and its row in the ledger.
var errTransactionEnded = errors.New("no transaction is open")

// statements runs the file's spans one after the other. A span that SQLite calls incomplete was cut too early; it is
// retried together with the next.
func (r *run) statements(ctx context.Context, c connection, f File, g *guard) error {
	spans := r.spans[f.Name]
	relaxed := false // the file has PRAGMA foreign_keys = OFF
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		err := r.exec(ctx, f, s, g)
		for err != nil && err.Msg == incomplete && i+1 < len(spans) {
			i++
			s.end = spans[i].end
			err = r.exec(ctx, f, s, g)
		}
		if err != nil {
			if relaxed && err.Code == CodeForeignKeys {
				err.Fix = "write PRAGMA defer_foreign_keys = ON in place of PRAGMA foreign_keys = OFF, which has no effect, " +
					"and = OFF at its end"
			}
			return err
		}
		relaxed = r.noticeKeys(f, s, g, relaxed)
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

// noticeKeys warns of PRAGMA foreign_keys, which has no effect in a transaction: once for each value in a file, and only of OFF
// when ON follows.
func (r *run) noticeKeys(f File, s span, g *guard, relaxed bool) bool {
	if g.keys == "" {
		return relaxed
	}
	on := slices.Contains([]string{"on", "yes", "true", "1"}, strings.ToLower(strings.Trim(g.keys, `'"`)))
	if !(on && relaxed) {
		msg := "PRAGMA foreign_keys = ON changes nothing: foreign keys are always enforced"
		if !on {
			msg = "PRAGMA foreign_keys = OFF has no effect in a migration: foreign keys stay enforced, and ON DELETE " +
				"runs when a table is dropped"
		}
		noticed := func(n Notice) bool { return n.Name == f.Name && n.Msg == msg }
		if !slices.ContainsFunc(r.result.Warnings, noticed) {
			r.result.Warnings = append(r.result.Warnings, Notice{
				Name: f.Name, Pos: position(f.path(), f.SQL, s.start), Code: CodePragmaIdle, Msg: msg,
			})
		}
	}
	g.keys = ""
	return relaxed || !on
}

// followed runs a statement of a file, while the watcher of the run follows it.
func (r *run) followed(ctx context.Context, f File, s span) error {
	if err := r.watch.begin(context.WithoutCancel(ctx), r.conn, f, s); err != nil {
		return err
	}
	if r.steps != nil {
		*r.steps = r.o.MaxSteps
	}
	err := r.statement(ctx, string(f.SQL[s.start:s.end]))
	if err != nil && ctx.Err() == nil && r.steps != nil && *r.steps <= 0 {
		err = errEndless
	}
	return cmp.Or(r.watch.end(context.WithoutCancel(ctx), r.conn, err != nil), err)
}

// statement runs text inside [withInterrupt], which ends it with ctx.
func (r *run) statement(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), text)
	if err != nil && rowlimit.Needed(message(err)) {
		err = r.rowLimited(ctx, text, err)
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// rowLimited runs an UPDATE or DELETE with ORDER BY or LIMIT that SQLite refused; it returns refused for other statements.
func (r *run) rowLimited(ctx context.Context, text string, refused error) error {
	s, err := rowlimit.Rewrite(text, func(query string) (columns []rowlimit.Column, err error) {
		rows, err := r.conn.QueryContext(context.WithoutCancel(ctx), query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var c rowlimit.Column
			if err := rows.Scan(&c.Schema, &c.Table, &c.Type, &c.WithoutRowid, &c.Name, &c.Part); err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
		return columns, rows.Err()
	})
	if err != nil {
		return err
	}
	if s == nil || strings.TrimSpace(text[s.End:]) != "" {
		return refused
	}
	if _, err = r.conn.ExecContext(context.WithoutCancel(ctx), s.Text); err != nil {
		if said, _ := s.Blame(message(err), -1); said != message(err) {
			return &rowlimit.Error{Message: said, Offset: -1}
		}
	}
	return err
}

// incomplete is SQLite's message for text that ends within a statement.
const incomplete = "incomplete input"

func (r *run) exec(ctx context.Context, f File, s span, g *guard) *Error {
	text := string(f.SQL[s.start:s.end])
	refused := &g.refused
	*refused = refusal{}
	if sqltext.FirstWord(text) == "ALTER" { // SQLite does not ask the authorizer about a table's new name
		to := renameTarget(text)
		*refused = judgePrefix(ownPrefix(to))
		if r.keyed {
			r.keys.rename(to)
		}
	}
	if refused.msg != "" {
		return f.refusal(s, refused, nil)
	}
	var err error
	if table := droppedTable(text); table != "" && r.keyed {
		err = r.dropTable(ctx, f, s, table)
	} else {
		err = r.followed(ctx, f, s)
	}
	if l, over := limitOf(text, err); over && !l.passes(err) && refused.msg == "" {
		return &Error{
			Pos: position(f.path(), f.SQL, s.start), Code: CodeOverLimit, Msg: "the platform refuses this statement: " + l.what,
			Fix: l.fix(), cause: err,
		}
	}
	if err != nil && refused.msg == "" {
		err = r.beyondLimit(ctx, f, s, err)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errEndless):
		return f.endless(s, r.o.MaxSteps)
	}
	if refused.msg != "" {
		return f.refusal(s, refused, err)
	}
	return r.explain(f, s, err)
}

// explain returns the error of a statement that SQLite could not run.
func (r *run) explain(f File, s span, err error) *Error {
	text, begin := string(f.SQL[s.start:s.end]), position(f.path(), f.SQL, s.start)
	if sqltext.FirstWord(text) == "VACUUM" {
		return &Error{
			Pos: begin, Code: CodeVacuum, Msg: "a migration must not vacuum: it cannot be part of a transaction",
			Fix: "remove the statement; SQLite reuses the space of deleted rows", cause: err,
		}
	}
	e := databaseError("the statement fails", err)
	e.Pos = begin
	r.boundOf(e)
	if e.Code == CodeFailed { // otherwise the cause is the database or the run
		e.Msg = message(err)
		if name, ok := strings.CutPrefix(e.Msg, "no such function: "); ok && forbiddenFunctions[strings.ToLower(name)] {
			v := judgeAction(sqlite.AuthFunction, "", name, "") // SQLite asks about functions that it knows
			e.Code, e.Msg, e.Fix = v.code, v.msg, v.fix
		}
		if e.Fix == "" {
			e.Fix = cmp.Or(ForeignFix(f.SQL[s.start:s.end], e.Msg), renameFix(e.Msg))
		}
		e.Pos = position(f.path(), f.SQL, f.blame(s, e.Msg))
		if e.Msg == "FOREIGN KEY constraint failed" { // RESTRICT and DROP TABLE have other codes for it
			e.Code, e.Fix = CodeForeignKeys, keyFix(text)
		}
	}
	return e
}

// keyFix returns the fix for a statement that broke a foreign key.
func keyFix(text string) string {
	switch sqltext.FirstWord(text) {
	case "DROP":
		return "drop the tables that refer to it first, or delete their rows; to rebuild the table, begin the file with PRAGMA " +
			"defer_foreign_keys = ON and end it with OFF: pages migrate diff writes such a file"
	case "DELETE", "UPDATE":
		return "delete or change the rows that refer to it first, or begin the file with PRAGMA defer_foreign_keys = ON"
	default:
		return "insert the parent row first, or begin the file with PRAGMA defer_foreign_keys = ON"
	}
}

func (f File) refusal(s span, r *refusal, err error) *Error {
	return &Error{Pos: position(f.path(), f.SQL, s.start), Code: r.code, Msg: r.msg, Fix: r.fix, cause: err}
}

// renameTarget returns the new name in ALTER TABLE … RENAME TO; "" for another statement.
func renameTarget(text string) string {
	var last [3]string // tokens
	src := []byte(text)
	for pos := 0; pos < len(src); {
		t := sqltext.Next(src, pos)
		pos = t.End
		if t.Kind != sqltext.Space && t.Kind != sqltext.Semicolon {
			last = [3]string{last[1], last[2], string(src[t.Start:t.End])}
		}
	}
	if !strings.EqualFold(last[0], "RENAME") || !strings.EqualFold(last[1], "TO") {
		return ""
	}
	return dbfile.UnquoteName(last[2])
}

// renameFix returns the fix for a trigger or view that names a dropped table while another table is renamed to it; ""
// for other messages.
func renameFix(msg string) string {
	if named, ok := strings.CutPrefix(msg, "error in "); ok && strings.Contains(msg, ": no such table: ") {
		if what, _, _ := strings.Cut(named, ":"); strings.HasPrefix(what, "trigger ") || strings.HasPrefix(what, "view ") {
			return "drop the " + what + " before the table is dropped, and create it again at the end of the file"
		}
	}
	return ""
}
