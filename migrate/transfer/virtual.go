package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file writes the visible rows of virtual tables, for a reader that lets only their modules write to shadow
// tables, such as migrations. A full-text table that indexes another table is reindexed; one with only an index cannot
// be written.

// virtualModule returns the module of a virtual table, in lower case, and its arguments.
func virtualModule(sql string) (name string, arguments [][]sqltext.Token) {
	tokens := sqltext.Tokens(sql)
	at := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Is("USING") })
	if at < 0 || at+1 == len(tokens) {
		return "", nil
	}
	name = strings.ToLower(dbfile.UnquoteName(tokens[at+1].Text))
	var argument []sqltext.Token
	depth := 0
	for _, t := range tokens[at+2:] {
		opens, closes := !t.IsQuoted() && t.Text == "(", !t.IsQuoted() && t.Text == ")"
		if closes {
			depth--
		}
		switch {
		case depth == 1 && !t.IsQuoted() && t.Text == ",":
			arguments, argument = append(arguments, argument), nil
		case depth > 0:
			argument = append(argument, t)
		}
		if opens {
			depth++
		}
	}
	return name, append(arguments, argument)
}

// virtual writes the rows of a virtual table through the table itself.
func (d *dump) virtual(ctx context.Context, o object) error {
	module, arguments := virtualModule(o.sql)
	switch {
	case module == "fts5":
		return d.fullText(ctx, o, arguments)
	case strings.HasPrefix(module, "rtree"):
		columns, err := d.shownColumns(ctx, o.name)
		if err != nil {
			return err
		}
		return d.orderedRows(ctx, o.name, columns, columns[0])
	}
	return nil // it stores nothing, like fts5vocab
}

// fullText writes the settings and rows of an fts5 table.
func (d *dump) fullText(ctx context.Context, o object, arguments [][]sqltext.Token) error {
	name := dbfile.QuoteName(o.name)
	_, err := d.db.Run(ctx, "SELECT k, v FROM "+dbfile.QuoteName(o.name+"_config")+" WHERE k <> 'version' ORDER BY k", nil, nil,
		func(v []any) error { return d.insert("INSERT INTO "+name+"("+name+",rank) VALUES(", v) })
	if err != nil {
		return err
	}
	content, ownRows := "", true
	for _, a := range arguments {
		if len(a) >= 3 && a[0].Is("content") && a[1].Text == "=" {
			content, ownRows = dbfile.UnquoteName(a[2].Text), false
		}
	}
	if ownRows {
		columns, err := d.shownColumns(ctx, o.name)
		if err != nil {
			return err
		}
		return d.orderedRows(ctx, o.name, append([]string{"rowid"}, columns...), "rowid")
	}
	isEmpty, err := d.hasEmptyIndex(ctx, o.name)
	if err != nil || isEmpty {
		return err
	}
	if content == "" {
		return &migrate.Error{
			Code: migrate.CodeSquash,
			Msg:  fmt.Sprintf("the full-text table %q stores its index without text (content=''), and cannot be written as SQL", o.name),
			Fix:  "squash up to a file before the one that fills it",
		}
	}
	// The argument 1 compares the index with the content.
	if _, err := d.db.Run(ctx, "INSERT INTO "+name+"("+name+",rank) VALUES('integrity-check',1)", nil, nil, nil); err != nil {
		return &migrate.Error{
			Code: migrate.CodeSquash,
			Msg: fmt.Sprintf("the index of the full-text table %q does not match its content %q, and cannot be written as SQL",
				o.name, content),
			Fix: fmt.Sprintf("add a migration with INSERT INTO %s(%s) VALUES('rebuild'), and squash up to it", name, name),
		}
	}
	d.refill = append(d.refill, "INSERT INTO "+name+"("+name+") VALUES('rebuild');\n")
	return nil
}

// hasEmptyIndex reports whether an fts5 table has indexed nothing: its data are only the two rows of every index.
func (d *dump) hasEmptyIndex(ctx context.Context, table string) (empty bool, err error) {
	_, err = d.db.Run(ctx, "SELECT count(*) <= 2 FROM "+dbfile.QuoteName(table+"_data"), nil, nil, func(v []any) error {
		empty = v[0] == int64(1)
		return nil
	})
	return empty, err
}

// shownColumns returns the columns of a virtual table that are not hidden, quoted.
func (d *dump) shownColumns(ctx context.Context, table string) (list []string, err error) {
	_, err = d.db.Run(ctx, "PRAGMA main.table_xinfo("+dbfile.QuoteName(table)+")", nil, nil, func(v []any) error {
		if hidden, _ := v[6].(int64); hidden == 0 {
			list = append(list, dbfile.QuoteName(textOf(v[1])))
		}
		return nil
	})
	return list, err
}

// orderedRows writes rows in the order of a column, since the order of a tree depends on its history.
func (d *dump) orderedRows(ctx context.Context, table string, columns []string, by string) error {
	list := strings.Join(columns, ",")
	insert := "INSERT INTO " + dbfile.QuoteName(table) + "(" + list + ") VALUES("
	_, err := d.db.Run(ctx, "SELECT "+list+" FROM "+dbfile.QuoteName(table)+" ORDER BY "+by, nil, nil,
		func(values []any) error { return d.insert(insert, values) })
	return err
}
