package schemadiff

import (
	"context"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// Check returns the views and triggers of a schema that SQLite cannot use, such as one with a dropped column. SQLite
// creates them without a check. db is the database without rows that the schema was read from; it is not changed.
func Check(ctx context.Context, db DB, s *Schema) ([]*Error, error) {
	var list []*Error
	for _, o := range s.objects {
		var sql string
		switch o.kind {
		case KindView:
			sql = "SELECT * FROM " + quoted(o.name) + " LIMIT 0"
		case KindTrigger:
			sql = "EXPLAIN " + s.firing(o)
		default:
			continue
		}
		err := query(ctx, db, sql, nil, func([]any) {})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil || !o.isBlamed(err.Error()) {
			continue
		}
		list = append(list, &Error{
			Code: CodeBroken, Kind: o.kind, Name: o.name,
			Msg: fmt.Sprintf("the %s %s cannot be used: %s", o.kind, quoted(o.name), missing(err.Error())),
			Fix: fmt.Sprintf("correct the %s, or remove it", o.kind),
		})
	}
	return list, nil
}

// missing returns the part of SQLite's message that names the missing object; "" for another message.
func missing(message string) string {
	at := strings.Index(message, "no such ")
	if at < 0 {
		return ""
	}
	text, _, _ := strings.Cut(message[at:], " (")
	return text
}

// isBlamed reports whether a message is about a name in the object's text, rather than another trigger of the same table.
func (o *object) isBlamed(message string) bool {
	text := missing(message)
	if text == "" {
		return false
	}
	name := text[strings.LastIndexAny(text, " .")+1:]
	return o.kind == KindView || names(o.sql)[dbfile.FoldName(name)]
}

// firing returns a statement that sets off a trigger.
func (s *Schema) firing(o *object) string {
	name := quoted(o.table)
	for _, t := range sqltext.Tokens(o.sql) {
		switch {
		case t.Is("DELETE"):
			return "DELETE FROM " + name
		case t.Is("INSERT"):
			return "INSERT INTO " + name + " DEFAULT VALUES"
		case t.Is("UPDATE"):
			return "UPDATE " + name + " SET " + s.assignments(o.table)
		}
	}
	return "SELECT 1"
}

// assignments sets each column of a table to itself.
func (s *Schema) assignments(name string) string {
	var list []string
	if t := s.table(name); t != nil {
		for _, c := range t.columns {
			if !c.generated && !c.hidden {
				list = append(list, quoted(c.name)+" = "+quoted(c.name))
			}
		}
	}
	if list == nil {
		return "rowid = rowid" // for a view: SQLite compiles its triggers for any column
	}
	return strings.Join(list, ", ")
}

// Makes reports whether a statement makes the object of a kind and name.
func Makes(statement, kind, name string) bool {
	tokens := sqltext.Tokens(statement)
	if len(tokens) == 0 || !tokens[0].Is("CREATE") {
		return false
	}
	for i, t := range tokens {
		if !t.Is(kind) {
			continue
		}
		rest := tokens[i+1:]
		if len(rest) > 3 && rest[0].Is("IF") {
			rest = rest[3:]
		}
		if len(rest) > 2 && rest[1].Text == "." {
			rest = rest[2:]
		}
		return len(rest) > 0 && dbfile.SameName(dbfile.UnquoteName(rest[0].Text), name)
	}
	return false
}
