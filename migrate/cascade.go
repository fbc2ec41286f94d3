package migrate

import (
	"context"
	"fmt"
	"go/token"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file warns of rows that are lost with a table. DROP TABLE first deletes the table's rows, and ON DELETE CASCADE
// or SET NULL acts on the rows that refer to them, regardless of PRAGMA defer_foreign_keys. An author who rebuilds a
// table by the usual steps loses these rows without violating a foreign key.

// severance is the effect of DROP TABLE on the references of another table.
type severance struct {
	pos    token.Position
	parent string // the table that was dropped
	reference
	before, after int64 // rows with a reference, around the statement
}

// reference is a foreign key: its table, its first column, and its action ON DELETE.
type reference struct{ table, column, action string }

// droppedTable returns the table that DROP TABLE drops; "" for another statement.
func droppedTable(text string) string {
	src := []byte(text)
	words := []string{"DROP", "TABLE"}
	name := ""
	for pos := 0; pos < len(src); {
		t := sqltext.Next(src, pos)
		pos = t.End
		word := string(src[t.Start:t.End])
		switch {
		case t.Kind == sqltext.Space || t.Kind == sqltext.Semicolon:
		case len(words) > 0:
			if !strings.EqualFold(word, words[0]) {
				return ""
			}
			words = words[1:]
		default:
			name = word // the last: IF EXISTS and the schema come before
		}
	}
	return dbfile.UnquoteName(name)
}

// dropTable runs a statement that drops a table, and notes the losses. Call it inside [withGuard].
func (r *run) dropTable(ctx context.Context, f File, s span, table string) error {
	references, err := r.referencesTo(ctx, table)
	if err != nil {
		return err
	}
	var found []severance
	for _, ref := range references {
		n, err := r.countReferring(ctx, ref)
		if err != nil {
			return err
		}
		if n > 0 {
			found = append(found, severance{parent: table, reference: ref, before: n})
		}
	}
	if err := r.followed(ctx, f, s); err != nil {
		return err
	}
	for _, l := range found {
		if l.after, err = r.countReferring(ctx, l.reference); err != nil {
			return err
		}
		if l.after < l.before {
			l.pos = position(f.path(), f.SQL, s.start)
			r.severed = append(r.severed, l)
		}
	}
	return nil
}

// referencesTo returns the foreign keys through which the deletion of a table's rows spreads, directly or through other tables.
func (r *run) referencesTo(ctx context.Context, table string) (all []reference, err error) {
	seen := map[string]bool{strings.ToLower(table): true}
	for queue := []string{table}; len(queue) > 0; queue = queue[1:] {
		found, err := r.referringTo(ctx, queue[0])
		if err != nil {
			return nil, err
		}
		for _, ref := range found {
			if name := strings.ToLower(ref.table); !seen[name] {
				all = append(all, ref)
				if ref.action == "CASCADE" {
					seen[name] = true
					queue = append(queue, ref.table)
				}
			}
		}
	}
	return all, nil
}

func (r *run) referringTo(ctx context.Context, table string) (found []reference, err error) {
	if err := r.keys.refresh(context.WithoutCancel(ctx), r.conn); err != nil || len(r.keys.children[dbfile.FoldName(table)]) == 0 {
		return nil, err
	}
	rows, err := r.conn.QueryContext(context.WithoutCancel(ctx), `SELECT m.name, k."from", k.on_delete
FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS k
WHERE m.type = 'table' AND k.seq = 0 AND k."table" = ? COLLATE NOCASE AND k.on_delete IN ('CASCADE', 'SET NULL')`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var ref reference
		if err := rows.Scan(&ref.table, &ref.column, &ref.action); err != nil {
			return nil, err
		}
		found = append(found, ref)
	}
	return found, rows.Err()
}

func (r *run) countReferring(ctx context.Context, ref reference) (n int64, err error) {
	err = r.conn.QueryRowContext(
		context.WithoutCancel(ctx), "SELECT count("+dbfile.QuoteName(ref.column)+") FROM "+dbfile.QuoteName(ref.table),
	).Scan(&n)
	return n, err
}

// noticeSevered warns of losses that the file did not restore. It runs inside [withInterrupt].
func (r *run) noticeSevered(ctx context.Context, f File) error {
	defer func() { r.severed = nil }()
	for _, l := range r.severed {
		there, err := hasTable(ctx, r.conn, l.table)
		if err == nil && there {
			var now int64
			if now, err = r.countReferring(ctx, l.reference); err == nil && now < l.before {
				r.result.Warnings = append(r.result.Warnings, Notice{Name: f.Name, Pos: l.pos, Code: CodeCascade, Msg: l.String()})
			}
		}
		if err != nil {
			return databaseError("the rows cannot be counted", err)
		}
	}
	return nil
}

func (l severance) String() string {
	n := l.before - l.after
	rows, it := "rows", "them"
	if n == 1 {
		rows, it = "row", "it"
	}
	if l.action == "SET NULL" {
		return fmt.Sprintf("dropping %q set %q to null in %d %s of %q (ON DELETE SET NULL); copy %s to another table "+
			"before it, and restore %s after it",
			l.parent, l.column, n, rows, l.table, it, it)
	}
	return fmt.Sprintf("dropping %q deleted %d %s of %q (ON DELETE CASCADE); copy %s to another table before it, and restore %s after it",
		l.parent, n, rows, l.table, it, it)
}
