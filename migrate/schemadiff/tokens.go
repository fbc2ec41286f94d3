package schemadiff

import (
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// This file compares SQL by its tokens, and quotes names.

// keywords are the keywords of SQLite (https://www.sqlite.org/lang_keywords.html), which need quotes as names.
var keywords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`abort action add after all alter always analyze and as asc attach autoincrement
		before begin between by cascade case cast check collate column commit conflict constraint create cross current
		current_date current_time current_timestamp database default deferrable deferred delete desc detach distinct do
		drop each else end escape except exclude exclusive exists explain fail filter first following for foreign from
		full generated glob group groups having if ignore immediate in index indexed initially inner insert instead
		intersect into is isnull join key last left like limit match materialized natural no not nothing notnull null
		nulls of offset on or order others outer over partition plan pragma preceding primary query raise range recursive
		references regexp reindex release rename replace restrict returning right rollback row rows savepoint select set
		table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view
		virtual when where window with without`) {
		all[word] = true
	}
	return all
}()

// isPlain reports whether a name needs no quotes.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && !keywords[dbfile.FoldName(name)]
}

// quoted returns a name as SQL, with quotes if it needs them.
func quoted(name string) string {
	if isPlain(name) {
		return name
	}
	return dbfile.QuoteName(name)
}

// quotedList returns names as SQL, with commas.
func quotedList(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = quoted(n)
	}
	return strings.Join(list, ", ")
}

// literal returns text as an SQL string.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// normal returns tokens as one text, which is equal for SQL that differs only in space, comments, quotes and case.
func normal(tokens []sqltext.Token) string {
	var out strings.Builder
	for i, t := range tokens {
		if i > 0 {
			out.WriteByte(' ')
		}
		switch {
		case t.IsQuoted() && t.Text[0] != '\'':
			out.WriteString(dbfile.FoldName(quoted(dbfile.UnquoteName(t.Text))))
		case t.IsQuoted():
			out.WriteString(t.Text)
		default:
			out.WriteString(dbfile.FoldName(t.Text))
		}
	}
	return out.String()
}

// names returns the names and words in SQL that may refer to an object, without case.
func names(sql string) map[string]bool {
	found := map[string]bool{}
	for _, t := range sqltext.Tokens(sql) {
		found[dbfile.FoldName(dbfile.UnquoteName(t.Text))] = true
	}
	return found
}

// groupEnd returns the index after the parenthesis that closes the one at tokens[at].
func groupEnd(tokens []sqltext.Token, at int) int {
	depth := 0
	for i := at; i < len(tokens); i++ {
		switch {
		case tokens[i].IsQuoted():
		case tokens[i].Text == "(":
			depth++
		case tokens[i].Text == ")":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(tokens)
}

// splitList splits tokens at the commas outside of parentheses.
func splitList(tokens []sqltext.Token) [][]sqltext.Token {
	var list [][]sqltext.Token
	depth, begin := 0, 0
	for i, t := range tokens {
		switch {
		case t.IsQuoted():
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text == "," && depth == 0:
			list = append(list, tokens[begin:i])
			begin = i + 1
		}
	}
	return append(list, tokens[begin:])
}

// oneLine returns SQL with one space for each run of space, and without comments.
func oneLine(sql string) string {
	var out strings.Builder
	end := 0
	for i, t := range sqltext.Tokens(sql) {
		if i > 0 && t.Start > end {
			out.WriteByte(' ')
		}
		out.WriteString(t.Text)
		end = t.End
	}
	return out.String()
}
