package schemadiff_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// This file makes random schemas, changes them at random, and fills them with rows.

// world is a random schema.
type world struct {
	r      *rand.Rand
	next   int // numbers names
	tables []*tbl
	extra  map[string]string // indexes, views and triggers by name
}

type tbl struct {
	name            string
	key             string // "rowid", "auto", "text", "pair" or "none"
	strict, noRowID bool
	cols            []*col
	checks          []string
	fts             bool
}

type col struct {
	name, kind string
	notNull    bool
	value      string // DEFAULT
	collate    string
	unique     bool
	check      string
	generated  string
	parent     *tbl
	action     string // ON DELETE and its action
	fresh      bool   // it has no rows yet
}

func newWorld(r *rand.Rand) *world {
	w := &world{r: r, extra: map[string]string{}}
	for range 2 + r.IntN(4) {
		w.tables = append(w.tables, w.newTable())
	}
	for _, t := range w.tables {
		for range r.IntN(3) {
			t.cols = append(t.cols, w.reference())
		}
	}
	if r.IntN(3) == 0 {
		w.tables = append(w.tables, &tbl{name: w.name("f"), fts: true, cols: []*col{{name: "uid"}, {name: "words"}}})
	}
	for range r.IntN(6) {
		w.addExtra()
	}
	return w
}

func (w *world) name(prefix string) string {
	w.next++
	if w.r.IntN(8) == 0 {
		return fmt.Sprintf("%s %d's", prefix, w.next) // a name that needs quotes
	}
	return fmt.Sprintf("%s%d", prefix, w.next)
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (w *world) newTable() *tbl {
	t := &tbl{name: w.name("t"), key: pick(w.r, "rowid", "rowid", "auto", "text", "pair", "none"), strict: w.r.IntN(4) == 0}
	t.noRowID = (t.key == "text" || t.key == "pair") && w.r.IntN(2) == 0
	t.cols = append(t.cols, &col{name: "uid", kind: "TEXT", notNull: true, unique: true})
	for range 1 + w.r.IntN(5) {
		t.cols = append(t.cols, w.newColumn())
	}
	if w.r.IntN(4) == 0 {
		t.checks = append(t.checks, "length(uid) > 0")
	}
	return t
}

func (w *world) newColumn() *col {
	c := &col{name: w.name("c"), kind: pick(w.r, "TEXT", "INTEGER", "BLOB", "REAL")}
	switch w.r.IntN(8) {
	case 0:
		c.notNull, c.value = true, map[string]string{"TEXT": "'it''s'", "INTEGER": "7", "BLOB": "x'00ff'", "REAL": "-1.5"}[c.kind]
	case 1:
		c.check = quote(c.name) + " IS NULL OR " + quote(c.name) + " <> '-- no; '"
	case 2:
		c.collate = "NOCASE"
	case 3:
		c.kind, c.generated = "TEXT", pick(w.r, "VIRTUAL", "STORED")
	case 4:
		c.unique = true
	case 5:
		if c.kind == "TEXT" {
			c.value = pick(w.r, "CURRENT_TIMESTAMP", "(lower('A') || 'b')", "'x'")
		}
	}
	return c
}

func (w *world) reference() *col {
	var parents []*tbl
	for _, t := range w.tables {
		if !t.fts {
			parents = append(parents, t)
		}
	}
	return &col{
		name: w.name("r"), kind: "TEXT", parent: pick(w.r, parents...), fresh: true,
		action: pick(w.r, "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT", " ON DELETE SET DEFAULT",
			" ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED"),
	}
}

// addExtra adds an index, view or trigger on a table.
func (w *world) addExtra() {
	t := pick(w.r, w.tables...)
	if t.fts {
		return
	}
	c := pick(w.r, t.cols...)
	on, column := quote(t.name), quote(c.name)
	switch name := w.name("x"); w.r.IntN(6) {
	case 0:
		w.extra[name] = fmt.Sprintf("CREATE INDEX %s ON %s (%s DESC)", quote(name), on, column)
	case 1:
		w.extra[name] = fmt.Sprintf("CREATE INDEX %s ON %s (lower(%s), uid) WHERE %s IS NOT NULL", quote(name), on, column, column)
	case 2:
		w.extra[name] = fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (uid, %s)", quote(name), on, column)
	case 3:
		w.extra[name] = fmt.Sprintf("CREATE VIEW %s AS SELECT uid, %s AS shown FROM %s WHERE %s IS NOT NULL",
			quote(name), column, on, column)
	case 4:
		w.extra[name] = fmt.Sprintf("CREATE TRIGGER %s AFTER UPDATE OF %s ON %s WHEN new.uid <> old.uid BEGIN\n"+
			"  UPDATE %s SET uid = uid || '!' WHERE uid = new.uid;\nEND", quote(name), column, on, on)
	case 5:
		other := pick(w.r, w.tables...)
		w.extra[name] = fmt.Sprintf("CREATE TRIGGER %s AFTER DELETE ON %s BEGIN DELETE FROM %s WHERE uid = old.uid; END",
			quote(name), on, quote(other.name))
	}
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// sql returns the statements, in another layout each time.
func (w *world) sql() string {
	var out strings.Builder
	for _, t := range w.tables {
		out.WriteString(t.sql(w.r) + ";\n")
	}
	names := slices.Sorted(maps.Keys(w.extra))
	for _, kind := range []string{"INDEX", "VIEW", "TRIGGER"} {
		for _, name := range names {
			if strings.Contains(strings.SplitN(w.extra[name], `"`, 2)[0], kind) {
				out.WriteString("-- " + kind + "\n" + w.extra[name] + ";\n")
			}
		}
	}
	return out.String()
}

func (t *tbl) sql(r *rand.Rand) string {
	if t.fts {
		var names []string
		for _, c := range t.cols {
			names = append(names, quote(c.name))
		}
		return "CREATE VIRTUAL TABLE " + quote(t.name) + " USING fts5(" + strings.Join(names, ", ") + ")"
	}
	var parts, behind []string
	switch t.key {
	case "rowid":
		parts = append(parts, "id INTEGER PRIMARY KEY")
	case "auto":
		parts = append(parts, "id INTEGER PRIMARY KEY AUTOINCREMENT")
	case "text":
		parts = append(parts, "id TEXT NOT NULL")
		behind = append(behind, "PRIMARY KEY (id)")
	case "pair":
		parts = append(parts, "a TEXT NOT NULL, b INTEGER NOT NULL")
		behind = append(behind, "PRIMARY KEY (a, b DESC)")
	}
	for _, c := range t.cols {
		text := pick(r, quote(c.name), "["+c.name+"]") + pick(r, " ", "\n  ") + c.kind
		if c.notNull {
			text += " NOT NULL"
		}
		if c.value != "" {
			text += " DEFAULT " + c.value
		}
		if c.collate != "" {
			text += pick(r, " COLLATE ", " collate ") + c.collate
		}
		if c.check != "" {
			text += " CHECK (" + c.check + ")"
		}
		if c.generated != "" {
			text += " GENERATED ALWAYS AS (uid || '+') " + c.generated
		}
		if c.unique && r.IntN(2) == 0 {
			text += " UNIQUE"
		} else if c.unique {
			behind = append(behind, "UNIQUE ("+quote(c.name)+")")
		}
		if c.parent != nil {
			reference := "REFERENCES " + quote(c.parent.name) + " (uid)" + c.action
			if r.IntN(2) == 0 {
				text += " " + reference
			} else {
				behind = append(behind, "FOREIGN KEY ("+quote(c.name)+") "+reference)
			}
		}
		parts = append(parts, text)
	}
	for _, check := range t.checks {
		behind = append(behind, "CHECK ("+pick(r, "", " ")+check+")")
	}
	out := "CREATE TABLE " + quote(t.name) + " (" + strings.Join(append(parts, behind...), pick(r, ", ", ",\n  ", " /* , */, ")) + ")"
	var options []string
	if t.strict {
		options = append(options, "STRICT")
	}
	if t.noRowID {
		options = append(options, "WITHOUT ROWID")
	}
	return out + " " + strings.Join(options, ", ")
}

// rows returns statements that fill the tables: each text is another one, so that any column may become unique.
func (w *world) rows() []string {
	var list []string
	for _, t := range w.tables {
		for n := range 3 + w.r.IntN(6) {
			list = append(list, t.row(w.r, n))
		}
	}
	// All parents exist now.
	for _, t := range w.tables {
		for _, c := range t.cols {
			if c.parent != nil {
				list = append(list, fmt.Sprintf("UPDATE %s SET %s = (SELECT p.uid FROM %s AS p\n"+
					"  ORDER BY (unicode(substr(p.uid, -1)) * %d + unicode(substr(%s.uid, -1)) * %d) %% 11, p.uid LIMIT 1)\n"+
					"WHERE unicode(substr(uid, -1)) %% 4 <> %d", quote(t.name), quote(c.name), quote(c.parent.name),
					1+w.r.IntN(10), quote(t.name), 1+w.r.IntN(10), w.r.IntN(4)))
			}
		}
		if t.key == "auto" || t.key == "none" || t.key == "rowid" {
			list = append(list, fmt.Sprintf("DELETE FROM %s WHERE uid = %s", quote(t.name), sqlText(t.name+"/2")))
		}
	}
	return list
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (t *tbl) row(r *rand.Rand, n int) string {
	unique := fmt.Sprintf("%s/%d", t.name, n)
	names, values := []string{}, []string{}
	add := func(name, value string) { names, values = append(names, quote(name)), append(values, value) }
	switch t.key {
	case "text":
		add("id", sqlText(unique))
	case "pair":
		add("a", sqlText(unique))
		add("b", fmt.Sprint(n))
	}
	for _, c := range t.cols {
		switch {
		case c.name == "uid":
			add("uid", sqlText(unique))
		case c.parent != nil || c.generated != "":
		case !c.notNull && r.IntN(3) == 0:
			add(c.name, "NULL")
		case c.kind == "INTEGER":
			add(c.name, fmt.Sprint(1000+n))
		case c.kind == "REAL":
			add(c.name, fmt.Sprintf("%d.25", n))
		case c.kind == "BLOB":
			add(c.name, fmt.Sprintf("x'%02x%02x'", n, r.IntN(256)))
		default:
			add(c.name, sqlText(fmt.Sprintf("%s of %s", c.name, unique)))
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quote(t.name), strings.Join(names, ", "), strings.Join(values, ", "))
}

// clone returns a copy that can be changed.
func (w *world) clone() *world {
	c := &world{r: w.r, next: w.next, extra: maps.Clone(w.extra)}
	copies := map[*tbl]*tbl{}
	for _, t := range w.tables {
		n := *t
		n.cols, n.checks = nil, slices.Clone(t.checks)
		for _, column := range t.cols {
			k := *column
			k.fresh = false
			n.cols = append(n.cols, &k)
		}
		copies[t] = &n
		c.tables = append(c.tables, &n)
	}
	for _, t := range c.tables {
		for _, column := range t.cols {
			if column.parent != nil {
				column.parent = copies[column.parent]
			}
		}
	}
	return c
}

// edit holds the author's hints beside the schema.
type edit struct {
	renames []string // in the form of --rename
	values  map[string]string
}

// change changes the schema once.
func (w *world) change(e *edit, renamed map[string]string) {
	t := pick(w.r, w.tables...)
	if t.fts {
		if w.r.IntN(2) == 0 {
			t.cols = append(t.cols, &col{name: w.name("c")})
		}
		return
	}
	drop := func(name string) { // objects that refer to a removed name
		for other, sql := range w.extra {
			if strings.Contains(sql, quote(name)) {
				delete(w.extra, other)
			}
		}
	}
	replace := func(from, to string) {
		for other, sql := range w.extra {
			w.extra[other] = strings.ReplaceAll(sql, quote(from), quote(to))
		}
	}
	at := 1 + w.r.IntN(max(len(t.cols)-1, 1))
	switch w.r.IntN(14) {
	case 0, 1:
		c := w.newColumn()
		c.fresh, c.unique = true, c.unique && c.value == "" && !c.notNull
		t.cols = slices.Insert(t.cols, min(at, len(t.cols)), c)
	case 2:
		c := w.newColumn()
		c.notNull, c.value, c.generated, c.unique, c.check, c.fresh = true, "", "", false, "", true
		t.cols = append(t.cols, c)
	case 3:
		if at < len(t.cols) {
			drop(t.cols[at].name)
			t.cols = slices.Delete(t.cols, at, at+1)
		}
	case 4:
		if at < len(t.cols) && !t.cols[at].fresh && renamed[t.name] == "" && t.cols[at].check == "" {
			c := t.cols[at]
			to := w.name("n")
			if _, known := renamed[t.name+"."+c.name]; known || strings.Contains(c.name+to, "=") {
				return
			}
			replace(c.name, to)
			e.renames = append(e.renames, t.name+"."+c.name+"="+to)
			renamed[t.name+"."+to] = c.name
			c.name = to
		}
	case 5:
		if renamed[t.name] == "" && !slices.ContainsFunc(e.renames, func(r string) bool { return strings.HasPrefix(r, t.name+".") }) {
			to := w.name("m")
			replace(t.name, to)
			e.renames = append(e.renames, t.name+"="+to)
			renamed[to] = t.name
			t.name = to
		}
	case 6:
		t.checks = pick(w.r, nil, []string{"uid <> ''"}, []string{"length(uid) > 0", "uid NOT LIKE '%;%'"})
	case 7:
		if at < len(t.cols) && t.cols[at].parent != nil {
			t.cols[at].action = pick(w.r, "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT")
		}
	case 8:
		t.cols = append(t.cols, w.reference())
	case 9:
		if w.r.IntN(2) == 0 && len(w.tables) > 2 {
			drop(t.name)
			w.tables = slices.DeleteFunc(w.tables, func(o *tbl) bool { return o == t })
			for _, other := range w.tables {
				other.cols = slices.DeleteFunc(other.cols, func(c *col) bool {
					if c.parent == t {
						drop(c.name)
					}
					return c.parent == t
				})
			}
			return
		}
		made := w.newTable()
		for _, c := range made.cols {
			c.fresh = true
		}
		w.tables = append(w.tables, made)
	case 10:
		w.addExtra()
	case 11:
		if names := slices.Sorted(maps.Keys(w.extra)); len(names) > 0 {
			delete(w.extra, pick(w.r, names...))
		}
	case 12:
		if at < len(t.cols) && t.cols[at].parent == nil && t.cols[at].generated == "" {
			c := t.cols[at]
			switch {
			case c.kind == "INTEGER" && c.value == "":
				c.kind = pick(w.r, "TEXT", "REAL")
			case !c.notNull && c.value == "":
				c.notNull, c.unique = true, false
			default:
				c.collate = pick(w.r, "", "NOCASE", "RTRIM")
			}
		}
	case 13:
		switch t.key {
		case "rowid":
			t.key = "auto"
		case "none":
			t.key = "rowid"
		case "auto":
			t.key = pick(w.r, "rowid", "none")
		case "text", "pair":
			t.noRowID = !t.noRowID
		}
	}
}
