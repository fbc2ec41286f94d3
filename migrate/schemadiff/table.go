package schemadiff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// read reads the columns and constraints of a table.
func (t *table) read(ctx context.Context, db DB) error {
	err := query(ctx, db, `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)`, []any{t.name},
		func(v []any) {
			c := &column{
				name: text(v[0]), kind: text(v[1]), notNull: v[2] == int64(1), hasDefault: v[3] != nil, defaultValue: text(v[3]),
			}
			primary, _ := v[4].(int64)
			hidden, _ := v[5].(int64)
			c.primary, c.hidden, c.generated = int(primary), hidden == 1, hidden == 2 || hidden == 3
			t.columns = append(t.columns, c)
		})
	if t.virtual {
		t.form = normal(sqltext.Tokens(t.sql)[3:])
		return nil // a module that cannot be opened has no columns to copy
	}
	if err != nil {
		return err
	}
	d, err := readDefinition(t.sql)
	if err != nil {
		return err
	}
	if len(d.columns) != len(t.columns) {
		return errDefinition
	}
	if err := t.readUnique(ctx, db, d); err != nil {
		return err
	}
	if err := t.readKeys(ctx, db, d); err != nil {
		return err
	}
	t.rules = append(t.rules, d.checks...)
	for _, word := range []struct {
		on   bool
		text string
	}{{t.strict, "STRICT"}, {t.noRow, "WITHOUT ROWID"}} {
		if word.on {
			t.rules = append(t.rules, rule{word.text, word.text})
		}
	}
	for i, c := range t.columns {
		c.read(d.columns[i], c.name == t.rowID)
	}
	return nil
}

func (c *column) read(d columnDefinition, isRowID bool) {
	c.text = d.text
	c.facts[factType] = dbfile.FoldName(strings.Join(strings.Fields(c.kind), " "))
	if c.notNull && !isRowID { // a rowid is never NULL
		c.facts[factNull] = "not null"
		c.facts[factConflict] = d.conflict
	}
	if c.hasDefault {
		c.facts[factDefault] = "default " + normal(sqltext.Tokens(c.defaultValue))
	}
	if d.collate != "" && d.collate != "binary" {
		c.facts[factCollate] = "collate " + d.collate
	}
	c.facts[factGenerated] = d.generated
}

// indexPart is a column or expression of an index.
type indexPart struct {
	name      string // "" for an expression
	collation string
	down      bool
}

func (p indexPart) String() string {
	out := dbfile.FoldName(p.name)
	if p.collation != "BINARY" && p.collation != "" {
		out += " collate " + dbfile.FoldName(p.collation)
	}
	if p.down {
		out += " desc"
	}
	return out
}

func readParts(ctx context.Context, db DB, index string) (parts []indexPart, err error) {
	err = query(ctx, db, `SELECT name, "desc", coll FROM pragma_index_xinfo(?) WHERE key = 1`, []any{index}, func(v []any) {
		parts = append(parts, indexPart{text(v[0]), text(v[2]), v[1] == int64(1)})
	})
	return parts, err
}

// readUnique reads the primary key and the UNIQUE constraints. Each has an index, except a rowid.
func (t *table) readUnique(ctx context.Context, db DB, d definition) error {
	type unique struct{ index, origin string }
	var found []unique
	err := query(ctx, db, "SELECT name, origin FROM pragma_index_list(?) WHERE origin <> 'c'", []any{t.name}, func(v []any) {
		found = append(found, unique{text(v[0]), text(v[1])})
	})
	if err != nil {
		return err
	}
	hasPrimary := false
	for _, u := range found {
		parts, err := readParts(ctx, db, u.index)
		if err != nil {
			return err
		}
		isPrimary := u.origin == "pk"
		hasPrimary = hasPrimary || isPrimary
		t.addUnique(d, parts, isPrimary)
	}
	if hasPrimary {
		return nil
	}
	for _, c := range t.columns {
		if c.primary > 0 {
			t.rowID = c.name
			t.addUnique(d, []indexPart{{name: c.name}}, true)
		}
	}
	return nil
}

func (t *table) addUnique(d definition, parts []indexPart, isPrimary bool) {
	var columns []string
	for _, p := range parts {
		columns = append(columns, p.name)
	}
	t.indexed = append(t.indexed, columns)
	r := rule{form: "unique", text: "UNIQUE (" + partList(parts) + ")"}
	if isPrimary {
		r = rule{form: "primary key", text: "PRIMARY KEY (" + partList(parts) + ")"}
		if len(parts) == 1 && dbfile.SameName(t.rowID, parts[0].name) {
			r.form = "rowid " + r.form // INTEGER PRIMARY KEY DESC is another key
		}
	}
	r.form += " (" + partList(parts) + ")"
	for _, u := range d.unique {
		equal := slices.EqualFunc(u.columns, parts, func(name string, p indexPart) bool { return dbfile.SameName(name, p.name) })
		if !equal || u.primary != isPrimary {
			continue
		}
		if u.conflict != "" {
			r.form, r.text = r.form+" "+u.conflict, r.text+" "+strings.ToUpper(u.conflict)
		}
		if u.automatic {
			t.autoincrement = true
			r.form, r.text = r.form+" autoincrement", r.text+" AUTOINCREMENT"
		}
		break
	}
	t.rules = append(t.rules, r)
}

func partList(parts []indexPart) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.String()
	}
	return strings.Join(list, ", ")
}

// readKeys reads the foreign keys. SQLite lists them in reverse order.
func (t *table) readKeys(ctx context.Context, db DB, d definition) error {
	type key struct {
		foreignKey
		form string
	}
	found := map[int64]*key{}
	err := query(ctx, db, `SELECT id, "table", "from", "to", on_update, on_delete, "match" FROM pragma_foreign_key_list(?)`,
		[]any{t.name}, func(v []any) {
			id, _ := v[0].(int64)
			k := found[id]
			if k == nil {
				k = &key{foreignKey: foreignKey{parent: text(v[1]), onDelete: text(v[5])}}
				for i, action := range []string{text(v[4]), text(v[5])} {
					if action != "NO ACTION" {
						k.form += [...]string{" on update ", " on delete "}[i] + dbfile.FoldName(action)
					}
				}
				if match := text(v[6]); match != "NONE" {
					k.form += " match " + dbfile.FoldName(match)
				}
				found[id] = k
			}
			k.columns = append(k.columns, text(v[2]))
			if v[3] != nil {
				k.to = append(k.to, text(v[3]))
			}
		})
	if err != nil {
		return err
	}
	if len(found) != len(d.keys) {
		return errDefinition
	}
	for id := range int64(len(found)) {
		k := found[id]
		if k == nil {
			return errDefinition
		}
		written := d.keys[int64(len(d.keys))-1-id]
		k.text = written.text
		k.form += " " + written.deferred
		t.keys = append(t.keys, k.foreignKey)
		t.rules = append(t.rules, rule{
			form: "foreign key " + strings.TrimSpace(k.form) + keyMark,
			text: "FOREIGN KEY (" + quotedList(k.columns) + ") " + written.text,
		})
	}
	return nil
}

// keyMark ends the form of a foreign key until the parent gives its columns.
const keyMark = "\x00"

// resolveKeys completes the forms of the foreign keys: one without columns of the parent means the parent's primary key.
func (t *table) resolveKeys(s *Schema) {
	at := 0
	for i, r := range t.rules {
		if !strings.HasSuffix(r.form, keyMark) {
			continue
		}
		k := t.keys[at]
		at++
		to := k.to
		if parent := s.table(k.parent); len(to) == 0 && parent != nil {
			to = parent.primaryKey()
		}
		t.rules[i].form = dbfile.FoldName(fmt.Sprintf("%s (%s) references %s (%s)",
			strings.TrimSuffix(r.form, keyMark), quotedList(k.columns), quoted(k.parent), quotedList(to)))
	}
}

// primaryKey returns the columns of the primary key in their order.
func (t *table) primaryKey() []string {
	var list []*column
	for _, c := range t.columns {
		if c.primary > 0 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *column) int { return a.primary - b.primary })
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.name
	}
	return out
}

// read makes the form of an index, view or trigger.
func (o *object) read(ctx context.Context, db DB) error {
	tokens := sqltext.Tokens(o.sql)
	if o.kind != KindIndex {
		o.form = normal(tokens)
		return nil
	}
	// CREATE [UNIQUE] INDEX name ON table (parts) [WHERE …]
	open := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return !t.IsQuoted() && t.Text == "(" })
	if open < 0 {
		return errDefinition
	}
	end := groupEnd(tokens, open)
	parts, err := readParts(ctx, db, o.name)
	if err != nil {
		return err
	}
	written := splitList(tokens[open+1 : end-1])
	if len(written) != len(parts) {
		return errDefinition
	}
	var list []string
	for i, p := range parts {
		if p.name != "" && len(o.columns) == i && end == len(tokens) {
			o.columns = append(o.columns, p.name)
		}
		if p.name == "" {
			p.name = "(" + normal(withoutOrder(written[i])) + ")"
		}
		list = append(list, p.String())
	}
	o.form = fmt.Sprintf("index %s on %s (%s) %s", dbfile.FoldName(o.name), dbfile.FoldName(o.table),
		strings.Join(list, ", "), normal(tokens[end:]))
	if tokens[1].Is("UNIQUE") {
		o.form = "unique " + o.form
	}
	return nil
}

// withoutOrder returns a part of an index without ASC, DESC and COLLATE at its end, which SQLite lists separately.
func withoutOrder(part []sqltext.Token) []sqltext.Token {
	if n := len(part); n > 0 && part[n-1].Is("ASC", "DESC") {
		part = part[:n-1]
	}
	if n := len(part); n > 2 && part[n-2].Is("COLLATE") {
		part = part[:n-2]
	}
	return part
}
