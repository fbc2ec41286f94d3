package migrate

import (
	"context"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file keeps SQLite's truncate optimisation in a watched run: DELETE of all rows of a table frees its pages at
// once, if no trigger or key acts on a row (https://www.sqlite.org/lang_delete.html). With a preupdate hook SQLite
// deletes row by row, which takes several times as long.

// truncatedTable returns the table of a DELETE without any clause; "" for another statement.
func truncatedTable(text string) string {
	if sqltext.FirstWord(text) != "DELETE" {
		return ""
	}
	tokens := sqltext.Tokens(text)
	if n := len(tokens); n > 0 && tokens[n-1].Kind == sqltext.Semicolon {
		tokens = tokens[:n-1]
	}
	if len(tokens) < 3 || !tokens[1].Is("FROM") {
		return ""
	}
	name := tokens[2:]
	if len(name) == 3 && dbfile.SameName(dbfile.UnquoteName(name[0].Text), "main") && name[1].Text == "." {
		name = name[2:]
	}
	if len(name) != 1 {
		return ""
	}
	return dbfile.UnquoteName(name[0].Text)
}

// truncate notes all rows of the table that the current statement deletes, and removes the hook until [watcher.end]. It
// does nothing for a statement or a table that SQLite processes row by row.
func (w *watcher) truncate(ctx context.Context, db querier, text string) error {
	o := w.tables[dbfile.FoldName(truncatedTable(text))]
	if o == nil || o.origin == "" || o.shape.virtual {
		return nil
	}
	rowid := rowidOf(o.shape)
	if rowid == "" && !o.shape.withoutRowid {
		return nil
	}
	followed, err := isFollowed(ctx, db, o.name)
	if err != nil || followed {
		return err
	}
	e := w.effectOn(o)
	if o.shape.withoutRowid {
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM "+dbfile.QuoteName(o.name)).Scan(&e.deletedDirect)
	} else {
		err = eachRowid(ctx, db, rowid, dbfile.QuoteName(o.name), func(id int64) error {
			w.deleted(o, e, id, false)
			if w.rows++; w.rows%4096 == 0 && w.full(o, e) {
				return w.err
			}
			return nil
		})
	}
	if err == nil {
		w.setHook(false)
	}
	return err
}

// isFollowed reports whether SQLite acts on each deleted row of a table: it has triggers, or foreign keys from it or to it.
func isFollowed(ctx context.Context, db querier, table string) (followed bool, err error) {
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE)
		OR EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1))
		OR EXISTS (SELECT 1 FROM pragma_table_list AS t, pragma_foreign_key_list(t.name, t.schema) AS k
			WHERE t.schema = 'main' AND k."table" = ?1 COLLATE NOCASE)`, table).Scan(&followed)
	return followed, err
}

// eachRowid calls fn with the rowids of a table, in ascending order. Both names are SQL.
func eachRowid(ctx context.Context, db querier, rowid, table string, fn func(id int64) error) error {
	var rows, first, last int64
	err := db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM "+table+"), (SELECT ifnull(min("+rowid+"), 0) FROM "+table+
		"), (SELECT ifnull(max("+rowid+"), 0) FROM "+table+")").Scan(&rows, &first, &last)
	if err != nil || rows == 0 {
		return err
	}
	if uint64(last)-uint64(first) == uint64(rows)-1 { //nolint:gosec // the distance of two rowids may be larger than an int64
		for id := first; ; id++ {
			if err := fn(id); err != nil || id == last {
				return err
			}
		}
	}
	found, err := db.QueryContext(ctx, "SELECT "+rowid+" FROM "+table+" ORDER BY 1")
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var id int64
		if err := found.Scan(&id); err != nil {
			return err
		}
		if err := fn(id); err != nil {
			return err
		}
	}
	return found.Err()
}

// setHook installs or removes the hook that reports each changed row to the watcher.
func (w *watcher) setHook(on bool) {
	tls := libc.NewTLS()
	defer tls.Close()
	if w.hooked = on; on {
		sqlite3.Xsqlite3_preupdate_hook(tls, uintptr(w.handle), preupdateC, 0)
		return
	}
	sqlite3.Xsqlite3_preupdate_hook(tls, uintptr(w.handle), 0, 0)
}
