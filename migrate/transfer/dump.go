package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// DumpOptions select the part of a database to write.
type DumpOptions struct {
	NoData bool     // leave out the rows
	Tables []string // names of tables to write, with their indexes and triggers; default everything
	// ByRows writes the visible rows of a virtual table, for a reader who may not write to its shadow tables.
	ByRows bool
}

// object is an entry of the schema.
type object struct{ kind, name, table, sql string }

// Dump writes the database as SQL that sqlite3 and [Script] read back: the same schema, in the same order, and the same
// values of the same storage class under the same rowids. For a virtual table it writes its shadow tables, or with
// ByRows its rows; then a table with only an index gives a [*migrate.Error].
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
	db       DB
	w        *bufio.Writer
	o        DumpOptions
	shadow   map[string][]string // by virtual table, its shadow tables
	isShadow map[string]bool
	noRowID  map[string]bool // tables WITHOUT ROWID
	refill   []string        // statements that index other tables, when these have their rows
	line     []byte
}

func (d *dump) write(ctx context.Context) error {
	objects, err := d.schema(ctx)
	if err != nil {
		return err
	}
	d.print("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
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
	// Indexes and triggers come last: rows are inserted faster without indexes, and must not fire triggers.
	for _, o := range objects {
		if o.kind != "table" {
			d.print(migrate.Ended(o.sql))
		}
	}
	for _, s := range d.refill {
		d.print(s)
	}
	d.print("COMMIT;\n")
	return nil
}

// print writes a text; the writer returns its first error on Flush.
func (d *dump) print(text string) { _, _ = d.w.WriteString(text) }

// schema reads the objects to write, in the order in which they were made.
func (d *dump) schema(ctx context.Context) ([]object, error) {
	d.shadow, d.isShadow, d.noRowID = map[string][]string{}, map[string]bool{}, map[string]bool{}
	var virtual, shadows []string
	_, err := d.db.Run(ctx, "PRAGMA main.table_list", nil, nil, func(v []any) error {
		name, kind := textOf(v[1]), textOf(v[2])
		d.noRowID[name] = v[4] == int64(1)
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
		for _, v := range virtual { // if both a_b and a_b_c exist, a_b_c owns a_b_c_data
			if len(v) > len(of) && len(s) > len(v) && s[len(v)] == '_' && strings.EqualFold(s[:len(v)], v) {
				of = v
			}
		}
		d.shadow[of] = append(d.shadow[of], s)
		d.isShadow[s] = true
	}
	var objects []object
	_, err = d.db.Run(ctx, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
		nil, nil, func(v []any) error {
			o := object{textOf(v[0]), textOf(v[1]), textOf(v[2]), textOf(v[3])}
			if !strings.HasPrefix(o.name, "sqlite_") && !d.isShadow[o.name] {
				objects = append(objects, o)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	if len(d.o.Tables) == 0 {
		return objects, nil
	}
	var names, all []string
	for _, o := range objects {
		if o.kind == "table" || o.kind == "view" {
			all = append(all, o.name)
		}
	}
	for _, want := range d.o.Tables {
		at := slices.IndexFunc(all, func(name string) bool { return strings.EqualFold(name, want) })
		if at < 0 {
			return nil, noTable(want, all)
		}
		names = append(names, all[at])
	}
	return slices.DeleteFunc(objects, func(o object) bool {
		return !slices.Contains(names, o.name) && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, o.table) })
	}), nil
}

func noTable(name string, tables []string) error {
	e := &Error{
		Code: CodeTable, Msg: fmt.Sprintf("there is no table %q", name),
		Fix: "the database has no tables yet: run pages migrate first",
	}
	if len(tables) > 0 {
		e.Fix = "there are " + strings.Join(tables, ", ")
	}
	return e
}

// table writes one table with its rows. A virtual table makes its shadow tables.
func (d *dump) table(ctx context.Context, o object) error {
	d.print(migrate.Ended(o.sql))
	if d.o.NoData {
		return nil
	}
	head := strings.Join(strings.Fields(o.sql[:min(len(o.sql), 64)]), " ")
	if strings.HasPrefix(strings.ToUpper(head), "CREATE VIRTUAL") {
		if d.o.ByRows {
			return d.virtual(ctx, o)
		}
		for _, name := range d.shadow[o.name] {
			d.print("DELETE FROM " + dbfile.QuoteName(name) + ";\n")
			if err := d.rows(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}
	return d.rows(ctx, o.name)
}

func (d *dump) rows(ctx context.Context, table string) error {
	columns, err := d.columns(ctx, table)
	if err != nil {
		return err
	}
	list := strings.Join(columns, ",")
	insert := "INSERT INTO " + dbfile.QuoteName(table) + "(" + list + ") VALUES("
	query := "SELECT " + list + " FROM " + dbfile.QuoteName(table)
	_, err = d.db.Run(ctx, query, nil, nil, func(values []any) error { return d.insert(insert, values) })
	return err
}

// columns returns a table's columns that are not generated, quoted, and before them the rowid unless it is a column.
func (d *dump) columns(ctx context.Context, table string) ([]string, error) {
	var list []string
	names := map[string]bool{}
	keys, integerKey := 0, false
	_, err := d.db.Run(ctx, "PRAGMA main.table_xinfo("+dbfile.QuoteName(table)+")", nil, nil, func(v []any) error {
		name := textOf(v[1])
		names[strings.ToLower(name)] = true
		if pk, _ := v[5].(int64); pk > 0 {
			keys++
			integerKey = strings.EqualFold(textOf(v[2]), "INTEGER")
		}
		if hidden, _ := v[6].(int64); hidden == 0 { // others are generated
			list = append(list, dbfile.QuoteName(name))
		}
		return nil
	})
	if err != nil || d.noRowID[table] {
		return list, err
	}
	if keys == 1 && integerKey {
		// An index of its own means that the key is not the rowid: INTEGER PRIMARY KEY DESC.
		alias := true
		_, err = d.db.Run(ctx, "PRAGMA main.index_list("+dbfile.QuoteName(table)+")", nil, nil, func(v []any) error {
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

// counters writes the values of AUTOINCREMENT, and for a whole database the statistics of ANALYZE.
func (d *dump) counters(ctx context.Context, objects []object) error {
	if d.o.NoData {
		return nil
	}
	if len(d.o.Tables) == 0 {
		return errors.Join(d.counter(ctx, "sqlite_sequence", "name,seq", "DELETE FROM sqlite_sequence;\n", "1"),
			d.counter(ctx, "sqlite_stat1", "tbl,idx,stat", "ANALYZE sqlite_schema;\n", "1"))
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

// counter writes the rows of one of SQLite's own tables, if it exists, after the statement first.
func (d *dump) counter(ctx context.Context, table, columns, first, where string) error {
	exists := false
	_, err := d.db.Run(ctx, "SELECT 1 FROM sqlite_schema WHERE name = ?", []any{table}, nil, func([]any) error {
		exists = true
		return nil
	})
	if err != nil || !exists {
		return err
	}
	d.print(first)
	_, err = d.db.Run(ctx, "SELECT "+columns+" FROM "+table+" WHERE "+where, nil, nil, func(v []any) error {
		return d.insert("INSERT INTO "+table+"("+columns+") VALUES(", v)
	})
	return err
}

// insert writes one row after the head of its statement.
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
	text, _ := v.(string)
	return text
}

// appendLiteral writes a value as SQL that every SQLite reads back as the same value.
func appendLiteral(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "NULL"...), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64: // never as text that reads as an INTEGER; SQLite has no NaN
		switch {
		case math.IsInf(v, 1):
			return append(b, "1e999"...), nil
		case math.IsInf(v, -1):
			return append(b, "-1e999"...), nil
		}
		begin := len(b)
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
		if !bytes.ContainsAny(b[begin:], ".e") {
			b = append(b, ".0"...)
		}
		return b, nil
	case string:
		return appendText(b, v), nil
	case []byte:
		return appendBlob(b, v), nil
	default:
		return nil, fmt.Errorf("a value of SQLite cannot be a %T", value)
	}
}

func appendBlob(b, v []byte) []byte {
	b = append(b, "X'"...)
	b = hex.AppendEncode(b, v)
	return append(b, '\'')
}

// appendText quotes text. The shell of sqlite3 ends SQL at a NUL and drops a carriage return before a line feed; and a dump
// must be valid UTF-8.
func appendText(b []byte, v string) []byte {
	if strings.ContainsAny(v, "\x00\r") || !utf8.ValidString(v) {
		b = append(b, "CAST("...)
		b = appendBlob(b, []byte(v))
		return append(b, " AS TEXT)"...)
	}
	b = append(b, '\'')
	b = append(b, strings.ReplaceAll(v, "'", "''")...)
	return append(b, '\'')
}
