package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
)

// DumpOptions say what of a database is written.
type DumpOptions struct {
	// NoData leaves the rows out.
	NoData bool
	// Tables are the names of the tables wanted, with their indexes and triggers. Default all there is.
	Tables []string
}

// object is an entry of the schema.
type object struct{ kind, name, table, sql string }

// Dump writes the database as SQL that sqlite3 and [Script] read back: the same schema, in the same order, and the
// same values of the same storage class under the same rowids. Of a virtual table, the tables behind it are written.
func Dump(ctx context.Context, db DB, w io.Writer, o DumpOptions) error {
	d := &dump{db: db, w: bufio.NewWriterSize(w, 256<<10), o: o}
	if err := db.Begin(ctx); err != nil {
		return err
	}
	err := d.write(ctx)
	if err == nil {
		err = d.w.Flush()
	}
	return errors.Join(err, db.Rollback(ctx))
}

type dump struct {
	db     DB
	w      *bufio.Writer
	o      DumpOptions
	shadow map[string][]string // of a virtual table, the tables behind it
	behind map[string]bool     // all of those
	bare   map[string]bool     // tables WITHOUT ROWID
	line   []byte
}

func (d *dump) write(ctx context.Context) error {
	objects, err := d.schema(ctx)
	if err != nil {
		return err
	}
	d.say("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
	for _, o := range objects {
		if o.kind == "table" {
			if err := d.table(ctx, o); err != nil {
				return err
			}
		}
	}
	if err := d.counters(ctx, objects); err != nil {
		return err
	}
	// Indexes and triggers last: rows go in faster without the first, and must not set off the second.
	for _, o := range objects {
		if o.kind != "table" {
			d.say(migrate.Ended(o.sql))
		}
	}
	d.say("COMMIT;\n")
	return nil
}

// say writes; the writer keeps its first error until Flush.
func (d *dump) say(text string) { _, _ = d.w.WriteString(text) }

// schema reads what there is to write, in the order in which it was made.
func (d *dump) schema(ctx context.Context) ([]object, error) {
	d.shadow, d.behind, d.bare = map[string][]string{}, map[string]bool{}, map[string]bool{}
	var virtual, shadows []string
	_, err := d.db.Run(ctx, "PRAGMA main.table_list", nil, nil, func(v []any) error {
		name, kind := textOf(v[1]), textOf(v[2])
		d.bare[name] = v[4] == int64(1)
		switch kind {
		case "virtual":
			virtual = append(virtual, name)
		case "shadow":
			shadows = append(shadows, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(shadows)
	for _, s := range shadows {
		of := ""
		for _, v := range virtual { // of a_b and a_b_c the longer name owns a_b_c_data
			if len(v) > len(of) && len(s) > len(v) && s[len(v)] == '_' && strings.EqualFold(s[:len(v)], v) {
				of = v
			}
		}
		d.shadow[of] = append(d.shadow[of], s)
		d.behind[s] = true
	}
	var objects []object
	_, err = d.db.Run(ctx, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
		nil, nil, func(v []any) error {
			o := object{textOf(v[0]), textOf(v[1]), textOf(v[2]), textOf(v[3])}
			if !strings.HasPrefix(o.name, "sqlite_") && !d.behind[o.name] {
				objects = append(objects, o)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return d.wanted(objects)
}

// wanted keeps the objects of the tables that were named.
func (d *dump) wanted(objects []object) ([]object, error) {
	if len(d.o.Tables) == 0 {
		return objects, nil
	}
	var names, there []string
	for _, o := range objects {
		if o.kind == "table" || o.kind == "view" {
			there = append(there, o.name)
		}
	}
	for _, want := range d.o.Tables {
		at := slices.IndexFunc(there, func(name string) bool { return strings.EqualFold(name, want) })
		if at < 0 {
			return nil, noTable(want, there)
		}
		names = append(names, there[at])
	}
	return slices.DeleteFunc(objects, func(o object) bool {
		return !slices.Contains(names, o.name) && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, o.table) })
	}), nil
}

func noTable(name string, there []string) error {
	e := &Error{
		Code: CodeTable, Msg: fmt.Sprintf("there is no table %q", name),
		Fix: "the database has no tables yet: run pages migrate first",
	}
	if len(there) > 0 {
		e.Fix = "there are " + strings.Join(there, ", ")
	}
	return e
}

// table writes one table with its rows. The tables behind a virtual one exist as soon as it does.
func (d *dump) table(ctx context.Context, o object) error {
	d.say(migrate.Ended(o.sql))
	if d.o.NoData {
		return nil
	}
	if len(o.sql) > 14 &&
		strings.HasPrefix(strings.ToUpper(strings.Join(strings.Fields(o.sql[:min(len(o.sql), 64)]), " ")), "CREATE VIRTUAL") {
		for _, name := range d.shadow[o.name] {
			d.say("DELETE FROM " + quoteName(name) + ";\n")
			if err := d.rows(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}
	return d.rows(ctx, o.name)
}

// rows writes the rows of a table.
func (d *dump) rows(ctx context.Context, table string) error {
	columns, err := d.columns(ctx, table)
	if err != nil {
		return err
	}
	list := strings.Join(columns, ",")
	insert := "INSERT INTO " + quoteName(table) + "(" + list + ") VALUES("
	_, err = d.db.Run(ctx, "SELECT "+list+" FROM "+quoteName(table), nil, nil, func(values []any) error { return d.insert(insert, values) })
	return err
}

// columns are those of a table that can be written, quoted, and before them the rowid where it is no column.
func (d *dump) columns(ctx context.Context, table string) ([]string, error) {
	var list []string
	names := map[string]bool{}
	keys, integerKey := 0, false
	_, err := d.db.Run(ctx, "PRAGMA main.table_xinfo("+quoteName(table)+")", nil, nil, func(v []any) error {
		name := textOf(v[1])
		names[strings.ToLower(name)] = true
		if pk, _ := v[5].(int64); pk > 0 {
			keys++
			integerKey = strings.EqualFold(textOf(v[2]), "INTEGER")
		}
		if hidden, _ := v[6].(int64); hidden == 0 { // others are generated
			list = append(list, quoteName(name))
		}
		return nil
	})
	if err != nil || d.bare[table] {
		return list, err
	}
	if keys == 1 && integerKey {
		// An index of its own means that the key is not the rowid: INTEGER PRIMARY KEY DESC.
		alias := true
		_, err = d.db.Run(ctx, "PRAGMA main.index_list("+quoteName(table)+")", nil, nil, func(v []any) error {
			alias = alias && textOf(v[3]) != "pk"
			return nil
		})
		if err != nil || alias {
			return list, err
		}
	}
	for _, rowid := range []string{"rowid", "_rowid_", "oid"} {
		if !names[rowid] {
			return append([]string{rowid}, list...), nil
		}
	}
	return list, nil
}

// counters writes what SQLite keeps of the tables: where AUTOINCREMENT stands, and of a whole database what ANALYZE
// found.
func (d *dump) counters(ctx context.Context, objects []object) error {
	if d.o.NoData {
		return nil
	}
	if len(d.o.Tables) == 0 {
		return errors.Join(
			d.counter(ctx, "sqlite_sequence", "name,seq", "DELETE FROM sqlite_sequence;\n", "1"),
			d.counter(ctx, "sqlite_stat1", "tbl,idx,stat", "ANALYZE sqlite_schema;\n", "1"),
		)
	}
	for _, o := range objects {
		if o.kind != "table" {
			continue
		}
		where := "name = " + string(appendText(nil, o.name))
		if err := d.counter(ctx, "sqlite_sequence", "name,seq", "DELETE FROM sqlite_sequence WHERE "+where+";\n", where); err != nil {
			return err
		}
	}
	return nil
}

// counter writes the rows of one of SQLite's own tables, if it is there, behind what makes room for them.
func (d *dump) counter(ctx context.Context, table, columns, first, where string) error {
	there := false
	_, err := d.db.Run(ctx, "SELECT 1 FROM sqlite_schema WHERE name = ?", []any{table}, nil, func([]any) error {
		there = true
		return nil
	})
	if err != nil || !there {
		return err
	}
	d.say(first)
	_, err = d.db.Run(ctx, "SELECT "+columns+" FROM "+table+" WHERE "+where, nil, nil, func(v []any) error {
		return d.insert("INSERT INTO "+table+"("+columns+") VALUES(", v)
	})
	return err
}

// insert writes one row behind the head of its statement.
func (d *dump) insert(head string, values []any) error {
	d.line = append(d.line[:0], head...)
	for i, v := range values {
		if i > 0 {
			d.line = append(d.line, ',')
		}
		var err error
		if d.line, err = appendLiteral(d.line, v); err != nil {
			return err
		}
	}
	d.line = append(d.line, ");\n"...)
	_, err := d.w.Write(d.line)
	return err
}

func textOf(v any) string {
	text, _ := v.(string) // what is none is no name either
	return text
}
