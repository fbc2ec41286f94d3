// Package rowlimit rewrites UPDATE and DELETE with ORDER BY and LIMIT as statements that every SQLite accepts.
//
// D1's SQLite has that form (SQLITE_ENABLE_UPDATE_DELETE_LIMIT). The parser in modernc.org/sqlite is generated without it. The
// package rewrites a statement like SQLite itself (sqlite3LimitWhere in its delete.c):
//
//	DELETE FROM t WHERE a > 1 ORDER BY b LIMIT 2
//	DELETE FROM t WHERE t.rowid IN (SELECT t.rowid FROM t WHERE a > 1 ORDER BY b LIMIT 2)
//
// The package reads the tables' keys through a function of its caller, and runs no other SQL. Safe for concurrent use.
package rowlimit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// Needed reports whether SQLite's message is the one for ORDER BY or LIMIT in an UPDATE or DELETE; other statements can get the same.
func Needed(message string) bool {
	return strings.HasSuffix(message, `near "ORDER": syntax error`) || strings.HasSuffix(message, `near "LIMIT": syntax error`)
}

// Column is a column of a table or view, a row of a [Query].
type Column struct {
	Schema       string
	Table        string
	Type         string // of the table, as in PRAGMA table_list; "view alone" for a view without triggers
	WithoutRowid bool
	Name         string
	Part         int // place in the primary key, from 1; 0 for other columns
}

const viewAlone = "view alone"

// Query runs a statement that gives columns, in the order of the fields of [Column].
type Query func(sql string) ([]Column, error)

// Error is SQLite's refusal of a statement of this form, in SQLite's words.
type Error struct {
	Message string
	Offset  int // the byte that it is about, -1 for none
}

func (e *Error) Error() string { return e.Message }

// Statement is a rewritten statement.
type Statement struct {
	Text string // the first statement alone
	End  int    // of the statement in the author's text, with its semicolon

	ended  bool // by a semicolon
	open   bool // something must follow the last token of LIMIT
	pieces []piece
}

// piece is a token from the author's text.
type piece struct{ at, origin, length int }

// Blame translates SQLite's message about a byte of Text (-1 when unknown) to the author's text.
func (s *Statement) Blame(message string, at int) (string, int) {
	origin := -1
	if at >= 0 {
		origin = s.origin(at)
	}
	// SQLite reports a missing value of LIMIT at our own parenthesis.
	if strings.HasPrefix(message, `near ")"`) && origin < 0 && (at >= 0 || s.open) {
		if s.ended {
			return `near ";": syntax error`, s.End - 1
		}
		return "incomplete input", -1
	}
	return message, origin
}

// origin returns the byte of the author's text for a byte of Text, -1 for a generated one.
func (s *Statement) origin(at int) int {
	i, found := slices.BinarySearchFunc(s.pieces, at, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	if i < 0 || at >= s.pieces[i].at+s.pieces[i].length {
		return -1
	}
	return s.pieces[i].origin + at - s.pieces[i].at
}

// Rewrite returns the first statement of text, rewritten; nil unless it is an UPDATE or DELETE with ORDER BY or LIMIT. A
// statement that SQLite would refuse gives an [*Error]; other errors come from query.
func Rewrite(text string, query Query) (*Statement, error) {
	p, end := parse(text)
	if p == nil {
		return nil, nil
	}
	if p.late != nil {
		return nil, &Error{"near " + strconv.Quote(p.late.Text) + ": syntax error", p.late.Start}
	}
	if p.limit == nil {
		return nil, &Error{"ORDER BY without LIMIT on " + p.verb, -1}
	}
	t, err := p.lookUp(query)
	if err != nil {
		return nil, err
	}
	s := p.write(t)
	s.End, s.ended = end, text[end-1] == ';'
	return s, nil
}

// clauses are the parts of a statement, as tokens; nil for missing ones.
type clauses struct {
	verb      string // "UPDATE" or "DELETE"
	head      []sqltext.Token
	with      bool
	name      []sqltext.Token // of the table, with its schema
	alias     []sqltext.Token // AS and a name
	indexed   []sqltext.Token // INDEXED BY and a name, or NOT INDEXED
	set       []sqltext.Token
	from      []sqltext.Token // without FROM
	where     []sqltext.Token // without WHERE
	returning []sqltext.Token
	order     []sqltext.Token
	limit     []sqltext.Token
	late      *sqltext.Token // the first token of a clause that comes too late

	numbers map[int]int // of parameters, by the byte at which they begin
	renamed bool        // parameters need their numbers
}

// parse returns the parts of the first statement of a text, nil for a statement of another form, and the offset of its end.
func parse(text string) (*clauses, int) {
	var tokens []sqltext.Token
	src := []byte(text)
	end := len(text)
	for pos := 0; pos < len(src); {
		t := sqltext.Next(src, pos)
		pos = t.End
		if t.Kind == sqltext.Semicolon {
			if end = pos; len(tokens) > 0 {
				break
			}
			continue
		}
		if t.Kind != sqltext.Space {
			tokens = append(tokens, sqltext.Token{Span: t, Text: text[t.Start:t.End]})
		}
		end = pos
	}
	p := &clauses{}
	rest := p.begin(tokens)
	if rest == nil {
		return nil, end
	}
	p.divide(rest)
	if p.order == nil && p.limit == nil || p.verb == "UPDATE" && (len(p.set) < 2 || !p.set[0].Is("SET")) {
		return nil, end
	}
	p.number(tokens)
	return p, end
}

// begin reads a statement up to the clauses after the table, and returns the table; nil for other statements.
func (p *clauses) begin(tokens []sqltext.Token) []sqltext.Token {
	i, depth := 0, 0
	for i < len(tokens) && tokens[i].Is("EXPLAIN", "QUERY", "PLAN") {
		i++
	}
	for p.with = i < len(tokens) && tokens[i].Is("WITH"); p.with && i < len(tokens); i++ {
		depth += nesting(tokens[i])
		if depth == 0 && tokens[i].Is("UPDATE", "DELETE", "INSERT", "REPLACE", "SELECT", "VALUES") {
			break
		}
	}
	switch {
	case i+2 >= len(tokens):
		return nil
	case tokens[i].Is("DELETE") && tokens[i+1].Is("FROM"):
		p.verb, i = "DELETE", i+2
	case tokens[i].Is("UPDATE") && tokens[i+1].Is("OR"):
		p.verb, i = "UPDATE", i+3
	case tokens[i].Is("UPDATE"):
		p.verb, i = "UPDATE", i+1
	default:
		return nil
	}
	p.head = tokens[:min(i, len(tokens))]
	rest := tokens[len(p.head):]
	take := func(n int) (taken []sqltext.Token) {
		taken, rest = rest[:n], rest[n:]
		return taken
	}
	switch {
	case len(rest) > 2 && rest[1].Text == ".":
		p.name = take(3)
	case len(rest) > 0:
		p.name = take(1)
	}
	if len(rest) > 1 && rest[0].Is("AS") {
		p.alias = take(2)
	}
	switch {
	case len(rest) > 2 && rest[0].Is("INDEXED"):
		p.indexed = take(3)
	case len(rest) > 1 && rest[0].Is("NOT") && rest[1].Is("INDEXED"):
		p.indexed = take(2)
	}
	return rest
}

// divide finds the clauses of a statement: each begins with its keyword, outside of parentheses.
func (p *clauses) divide(tokens []sqltext.Token) {
	clause, rank := &p.set, 0
	depth, begin := 0, 0
	for i, t := range tokens {
		depth += nesting(t)
		if depth != 0 {
			continue
		}
		var next *[]sqltext.Token
		place := 0
		switch {
		case t.Is("FROM") && p.verb == "UPDATE" && !(i > 0 && tokens[i-1].Is("DISTINCT")):
			next, place = &p.from, 1
		case t.Is("WHERE"):
			next, place = &p.where, 2
		case t.Is("RETURNING"):
			next, place = &p.returning, 3
		case t.Is("ORDER"):
			next, place = &p.order, 4
		case t.Is("LIMIT"):
			next, place = &p.limit, 5
		default:
			continue
		}
		if place <= rank {
			if rank >= 4 && p.late == nil { // otherwise SQLite reports it
				p.late = &tokens[i]
			}
			continue
		}
		*clause = tokens[begin:i]
		clause, rank, begin = next, place, i
	}
	*clause = tokens[begin:]
	for _, c := range []*[]sqltext.Token{&p.from, &p.where} {
		if len(*c) > 0 {
			*c = (*c)[1:]
		}
	}
}

// nesting returns the change of a token to the depth of parentheses.
func nesting(t sqltext.Token) int {
	switch {
	case t.Kind == sqltext.Quoted:
	case t.Text == "(":
		return 1
	case t.Text == ")":
		return -1
	}
	return 0
}

// number writes SQLite's own numbers to the parameters, which a statement needs when the rewrite moves or repeats a parameter.
func (p *clauses) number(tokens []sqltext.Token) {
	p.numbers = map[int]int{}
	p.renamed = p.returning != nil || p.from != nil
	named, most := map[string]int{}, 0
	for _, t := range tokens {
		if t.Kind != sqltext.Variable {
			continue
		}
		n, known := named[t.Text]
		if digits := t.Text[1:]; t.Text[0] == '?' && digits != "" {
			var err error
			if n, err = strconv.Atoi(digits); err != nil || n < 1 {
				continue // SQLite refuses it
			}
		} else if !known {
			n = most + 1
			if t.Text != "?" {
				named[t.Text] = n
			}
		}
		most = max(most, n)
		p.numbers[t.Start] = n
	}
}

// table is the table that a statement changes.
type table struct {
	schema string   // "" when there is no such table
	key    []string // quoted columns, or a name of the rowid
}

func (p *clauses) lookUp(query Query) (table, error) {
	name := dbfile.UnquoteName(p.name[len(p.name)-1].Text)
	in := ""
	if len(p.name) == 3 {
		in = " WHERE l.schema = " + literal(dbfile.UnquoteName(p.name[0].Text)) + " COLLATE NOCASE"
	}
	const kind = "iif(l.type = 'view' AND l.name COLLATE NOCASE NOT IN " +
		"(SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger'), '" + viewAlone + "', l.type)"
	columns, err := query("SELECT l.schema, l.name, " + kind + ", l.wr, x.name, x.pk FROM pragma_table_list(" + literal(name) + ") l, " +
		"pragma_table_xinfo(l.name, l.schema) x" + in + " ORDER BY l.schema <> 'temp', l.schema <> 'main', l.schema, x.cid")
	if err != nil {
		return table{}, err
	}
	t := table{}
	hidden := map[string]bool{}
	parts := map[int]string{}
	for _, c := range columns {
		if t.schema != "" && c.Schema != t.schema {
			break
		}
		t.schema = c.Schema
		switch c.Type {
		case viewAlone:
			return t, &Error{"cannot modify " + c.Table + " because it is a view", -1}
		case "view":
			return t, &Error{
				c.Table + " is a view: " + p.verb + " with ORDER BY or LIMIT is not available for views", p.name[len(p.name)-1].Start,
			}
		}
		hidden[strings.ToLower(c.Name)] = true
		if c.WithoutRowid && c.Part > 0 {
			parts[c.Part] = dbfile.QuoteName(c.Name)
		}
	}
	for n := 1; n <= len(parts); n++ {
		t.key = append(t.key, parts[n])
	}
	for _, rowid := range []string{"rowid", "_rowid_", "oid"} {
		if t.key == nil && !hidden[rowid] {
			t.key = []string{rowid}
		}
	}
	if t.key == nil {
		return t, &Error{name + " has columns called rowid, _rowid_ and oid: " + p.verb + " with LIMIT finds no name for its rows", -1}
	}
	return t, nil
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// write returns the statement with a condition for the rows that ORDER BY and LIMIT choose.
func (p *clauses) write(t table) *Statement {
	w := &writer{clauses: p}
	w.tokens(p.head, p.name, p.alias, p.set)
	source := p.name
	if p.alias != nil {
		source = p.alias[1:]
	}
	called := source[len(source)-1].Text
	var key []string
	for _, column := range t.key {
		key = append(key, called+"."+column)
	}
	names := strings.Join(key, ", ")
	if p.from != nil {
		w.ours(" FROM ")
		w.tokens(p.from)
	}
	w.ours(" WHERE ")
	if p.from != nil && p.where != nil { // the rows of other tables that supply an updated row
		w.ours("(")
		w.tokens(p.where)
		w.ours(") AND ")
	}
	if len(key) > 1 {
		w.ours("(" + names + ")")
	} else {
		w.ours(names)
	}
	w.ours(" IN (SELECT " + names + " FROM ")
	if p.with && len(p.name) == 1 && t.schema != "" { // a common table expression may have that name
		w.ours(dbfile.QuoteName(t.schema) + ".")
	}
	w.tokens(p.name, p.alias, p.indexed)
	if p.from != nil {
		w.ours(", ")
		w.tokens(p.from)
	}
	if p.where != nil {
		w.ours(" WHERE ")
		w.tokens(p.where)
	}
	if p.from != nil {
		w.ours(" GROUP BY " + names)
	}
	w.tokens(p.order, p.limit)
	w.ours(")")
	w.tokens(p.returning)
	last := p.limit[len(p.limit)-1]
	open := last.Is("LIMIT", "OFFSET") || last.Kind == sqltext.Other && last.Text != ")"
	return &Statement{Text: w.text.String(), open: open, pieces: w.pieces}
}

// writer writes a statement and notes where its tokens come from.
type writer struct {
	*clauses

	text   strings.Builder
	pieces []piece
}

func (w *writer) ours(text string) { w.text.WriteString(text) }

// tokens writes tokens from the author's text, and keeps the spaces between them. Comments are left out: one could hide the next tokens.
func (w *writer) tokens(lists ...[]sqltext.Token) {
	for _, list := range lists {
		for i, t := range list {
			if joined := i > 0 && list[i-1].End == t.Start; !joined && !w.joins() {
				w.ours(" ")
			}
			w.pieces = append(w.pieces, piece{w.text.Len(), t.Start, len(t.Text)})
			if n := w.numbers[t.Start]; w.renamed && n > 0 {
				w.text.WriteString("?" + strconv.Itoa(n))
			} else {
				w.text.WriteString(t.Text)
			}
		}
	}
}

// joins reports whether the next token may follow without a space.
func (w *writer) joins() bool {
	text := w.text.String()
	return text == "" || strings.ContainsRune(" .(", rune(text[len(text)-1]))
}
