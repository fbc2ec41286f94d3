package migrate

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/token"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// checkForeignKeys refuses a file that leaves a row without its parent. SQLite would notice only at COMMIT, and not name
// the row. A key whose parent has no unique index yet cannot be checked, and gets a notice: SQLite accepts it, and a
// later file may create the index. It runs inside [withInterrupt].
func (r *run) checkForeignKeys(ctx context.Context, f File) error {
	quick, err := r.checkSuspects(ctx, f)
	if err == nil && !quick {
		err = r.checkAllKeys(ctx, f)
	}
	r.keys.checked = err == nil
	clear(r.keys.touched)
	return err
}

// checkSuspects checks the tables in which the file may have broken a key. It returns false when all tables need a check: for
// the first file, or for a broken key, whose error names the first row that SQLite finds.
func (r *run) checkSuspects(ctx context.Context, f File) (done bool, err error) {
	if err := r.keys.refresh(context.WithoutCancel(ctx), r.conn); err != nil {
		return false, f.keysUnchecked(err)
	}
	if !r.keys.checked {
		return false, nil
	}
	for _, table := range r.keys.suspects(f) {
		err := r.checkKeysOf(ctx, f, table)
		switch e, _ := errors.AsType[*Error](err); {
		case err == nil:
			delete(r.keys.untold, table)
		case isMismatch(err) && r.unchecked[message(errors.Unwrap(err))]:
		case isMismatch(err) || e != nil && e.Code == CodeForeignKeys:
			return false, nil
		default:
			return false, err
		}
	}
	return true, nil
}

func (r *run) checkAllKeys(ctx context.Context, f File) error {
	clear(r.keys.untold)
	err := r.checkKeysOf(ctx, f, "")
	if !isMismatch(err) {
		return err
	}
	tables, err := readStrings(context.WithoutCancel(ctx), r.conn, `SELECT name FROM sqlite_schema AS t WHERE type = 'table'
		AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name)) ORDER BY name`)
	if err != nil {
		return f.keysUnchecked(err)
	}
	for _, table := range tables {
		err := r.checkKeysOf(ctx, f, table)
		if !isMismatch(err) {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.noticeUnchecked(ctx, f, table, message(errors.Unwrap(err))); err != nil {
			return err
		}
	}
	return nil
}

const mismatch = "foreign key mismatch - "

func isMismatch(err error) bool { return err != nil && strings.Contains(err.Error(), mismatch) }

// checkKeysOf checks the foreign keys of a table; "" is all tables.
func (r *run) checkKeysOf(ctx context.Context, f File, table string) error {
	pragma := "PRAGMA foreign_key_check"
	if table != "" {
		pragma += "(" + dbfile.QuoteName(table) + ")"
	}
	rows, err := r.conn.QueryContext(context.WithoutCancel(ctx), pragma)
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

// noticeUnchecked warns of a key that cannot be checked, with the file that mentions its table.
func (r *run) noticeUnchecked(ctx context.Context, f File, table, says string) error {
	if r.unchecked[says] {
		return nil
	}
	if !bytes.Contains(bytes.ToLower(f.SQL), []byte(strings.ToLower(table))) {
		r.keys.untold[dbfile.FoldName(table)] = true
		return nil
	}
	_, parent, _ := strings.Cut(says, " referencing ")
	parent = dbfile.UnquoteName(parent)
	columns, err := readStrings(context.WithoutCancel(ctx), r.conn,
		`SELECT group_concat(coalesce("to", 'its primary key'), ', ') FROM pragma_foreign_key_list(?)
			WHERE "table" = ? COLLATE NOCASE GROUP BY id ORDER BY id`, table, parent)
	if err != nil {
		return f.keysUnchecked(err)
	}
	to := fmt.Sprintf("%q", parent)
	if len(columns) == 1 {
		to += " (" + columns[0] + ")"
	}
	if r.unchecked == nil {
		r.unchecked = map[string]bool{}
	}
	r.unchecked[says] = true
	r.result.Warnings = append(r.result.Warnings, Notice{
		Name: f.Name, Pos: token.Position{Filename: f.path()}, Code: CodeKeyUnchecked,
		Msg: fmt.Sprintf("the foreign key of %q to %s is not checked: no unique index has these columns yet; until one does, "+
			"SQLite refuses to write rows with that key", table, to),
	})
	return nil
}
