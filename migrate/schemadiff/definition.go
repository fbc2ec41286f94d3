package schemadiff

import (
	"errors"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file reads the parts of an accepted CREATE TABLE statement that SQLite's pragmas do not list
// (https://www.sqlite.org/lang_createtable.html).

// definition is a CREATE TABLE statement.
type definition struct {
	columns []columnDefinition
	checks  []rule
	keys    []keyDefinition    // in the order of the text
	unique  []uniqueDefinition // UNIQUE and PRIMARY KEY
}

type columnDefinition struct {
	text, collate, generated, conflict string
}

type keyDefinition struct {
	columns  []string
	deferred string // DEFERRABLE and its clause
	text     string // REFERENCES and its clause
}

type uniqueDefinition struct {
	columns            []string
	primary, automatic bool // automatic: AUTOINCREMENT
	conflict           string
	text               string
}

var errDefinition = errors.New("its definition cannot be read")

// definitionReader reads one statement.
type definitionReader struct {
	sql    string
	tokens []sqltext.Token
	at     int
	definition
}

// readDefinition reads a table's statement from sqlite_schema.
func readDefinition(sql string) (definition, error) {
	r := &definitionReader{sql: sql, tokens: sqltext.Tokens(sql), at: 3}
	if len(r.tokens) < 5 || r.tokens[3].Text != "(" {
		return definition{}, errDefinition
	}
	end := groupEnd(r.tokens, r.at) - 1
	r.tokens, r.at = r.tokens[:end], r.at+1
	for r.at < end && !r.peek().Is("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN") {
		r.column()
		if r.at < end && r.peek().Text == "," {
			r.at++
		}
	}
	for r.at < end {
		if begin := r.at; !r.tableConstraint() {
			r.at = max(r.at, begin+1)
		}
	}
	return r.definition, nil
}

var noToken sqltext.Token

func (r *definitionReader) peek() sqltext.Token {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return noToken
}

// take skips the words, if they are next.
func (r *definitionReader) take(words ...string) bool {
	for i, w := range words {
		if r.at+i >= len(r.tokens) || !r.tokens[r.at+i].Is(w) {
			return false
		}
	}
	r.at += len(words)
	return true
}

// since returns the text from a token to the last read one.
func (r *definitionReader) since(begin int) string {
	if begin >= min(r.at, len(r.tokens)) {
		return ""
	}
	return oneLine(r.sql[r.tokens[begin].Start:r.tokens[min(r.at, len(r.tokens))-1].End])
}

// group skips a parenthesis, and returns the tokens inside.
func (r *definitionReader) group() []sqltext.Token {
	if r.peek().Text != "(" {
		return nil
	}
	begin := r.at
	r.at = min(groupEnd(r.tokens, r.at), len(r.tokens))
	return r.tokens[begin+1 : max(r.at-1, begin+1)]
}

// conflict reads ON CONFLICT.
func (r *definitionReader) conflict() string {
	if !r.take("ON", "CONFLICT") {
		return ""
	}
	word := dbfile.FoldName(r.peek().Text)
	r.at++
	if word == "abort" {
		return "" // as without it
	}
	return "on conflict " + word
}

// beginsConstraint reports whether a constraint of a column is next, and so the part before it has ended.
func (r *definitionReader) beginsConstraint() bool {
	if r.peek().Is("GENERATED") {
		return r.at+1 < len(r.tokens) && r.tokens[r.at+1].Is("ALWAYS")
	}
	return r.peek().Is("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "AS")
}

func (r *definitionReader) ended() bool { return r.at >= len(r.tokens) || r.peek().Text == "," }

func (r *definitionReader) column() {
	begin := r.at
	name := dbfile.UnquoteName(r.peek().Text)
	r.at++
	for !r.ended() && !r.beginsConstraint() { // the type
		if r.group() == nil {
			r.at++
		}
	}
	var c columnDefinition
	label := ""
	for !r.ended() {
		if r.take("CONSTRAINT") {
			label = dbfile.UnquoteName(r.peek().Text)
			r.at++
			continue
		}
		r.columnConstraint(&c, name, label)
		label = ""
	}
	c.text = r.since(begin)
	r.columns = append(r.columns, c)
}

func (r *definitionReader) columnConstraint(c *columnDefinition, name, label string) {
	begin := r.at
	switch {
	case r.take("PRIMARY", "KEY"):
		if !r.take("ASC") {
			r.take("DESC")
		}
		u := uniqueDefinition{columns: []string{name}, primary: true, conflict: r.conflict()}
		u.automatic = r.take("AUTOINCREMENT")
		u.text = "PRIMARY KEY (" + quoted(name) + ")" + strings.TrimPrefix(r.since(begin), "PRIMARY KEY")
		r.unique = append(r.unique, u)
	case r.take("NOT", "NULL"):
		c.conflict = r.conflict()
	case r.take("NULL"):
		r.conflict()
	case r.take("UNIQUE"):
		u := uniqueDefinition{columns: []string{name}, conflict: r.conflict()}
		u.text = "UNIQUE (" + quoted(name) + ")" + u.conflict
		r.unique = append(r.unique, u)
	case r.take("CHECK"):
		r.check(label, r.group())
	case r.take("DEFAULT"):
		if r.group() == nil {
			r.at++
			for !r.ended() && !r.beginsConstraint() {
				r.at++
			}
		}
	case r.take("COLLATE"):
		c.collate = dbfile.FoldName(dbfile.UnquoteName(r.peek().Text))
		r.at++
	case r.peek().Is("REFERENCES"):
		r.reference([]string{name})
	case r.take("GENERATED", "ALWAYS", "AS"), r.take("AS"):
		c.generated = "as (" + normal(r.group()) + ")"
		if r.take("STORED") {
			c.generated += " stored"
		} else {
			r.take("VIRTUAL")
		}
	default: // SQLite ignores DEFERRABLE without REFERENCES
		r.at++
	}
}

func (r *definitionReader) check(label string, inside []sqltext.Token) {
	r.conflict()
	c := rule{form: "check (" + normal(inside) + ")", text: "CHECK ()"}
	if len(inside) > 0 {
		c.text = "CHECK (" + oneLine(r.sql[inside[0].Start:inside[len(inside)-1].End]) + ")"
	}
	if label != "" {
		c.form, c.text = dbfile.FoldName(label)+" "+c.form, "CONSTRAINT "+quoted(label)+" "+c.text
	}
	r.checks = append(r.checks, c)
}

// reference reads REFERENCES and its clause.
func (r *definitionReader) reference(columns []string) {
	k := keyDefinition{columns: columns}
	begin := r.at
	r.at += 2 // the word and the parent
	r.group()
	for !r.ended() {
		deferred := r.at
		switch {
		case r.take("ON"), r.take("MATCH"):
			r.at++ // DELETE, UPDATE or a name
			if r.tokens[r.at-2].Is("MATCH") {
				continue
			}
			if !r.take("SET", "NULL") && !r.take("SET", "DEFAULT") && !r.take("NO", "ACTION") {
				r.at++
			}
		case r.take("NOT", "DEFERRABLE"), r.take("DEFERRABLE"):
			if r.take("INITIALLY") {
				r.at++
			}
			words := normal(r.tokens[deferred:min(r.at, len(r.tokens))])
			if words == "deferrable initially deferred" { // the others are the default
				k.deferred = words
			}
		default:
			k.text = r.since(begin)
			r.keys = append(r.keys, k)
			return
		}
	}
	r.at = min(r.at, len(r.tokens))
	k.text = r.since(begin)
	r.keys = append(r.keys, k)
}

// tableConstraint reads one constraint of the table; false when none is next.
func (r *definitionReader) tableConstraint() bool {
	for r.peek().Text == "," {
		r.at++
	}
	label := ""
	if r.take("CONSTRAINT") {
		label = dbfile.UnquoteName(r.peek().Text)
		r.at++
	}
	begin := r.at
	switch {
	case r.take("PRIMARY", "KEY"), r.take("UNIQUE"):
		u := uniqueDefinition{primary: r.tokens[begin].Is("PRIMARY")}
		inside := r.group()
		for _, part := range splitList(inside) {
			if len(part) > 0 {
				u.columns = append(u.columns, dbfile.UnquoteName(part[0].Text))
				u.automatic = u.automatic || part[len(part)-1].Is("AUTOINCREMENT")
			}
		}
		u.conflict = r.conflict()
		u.text = r.since(begin)
		r.unique = append(r.unique, u)
	case r.take("CHECK"):
		r.check(label, r.group())
	case r.take("FOREIGN", "KEY"):
		var columns []string
		for _, part := range splitList(r.group()) {
			if len(part) > 0 {
				columns = append(columns, dbfile.UnquoteName(part[0].Text))
			}
		}
		r.reference(columns)
	default:
		return label != "" // a name alone is a constraint
	}
	return true
}
