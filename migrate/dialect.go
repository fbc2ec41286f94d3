package migrate

import (
	"regexp"
	"strings"
)

// This file says what SQLite has in the place of what other databases have, where that is plain.

// foreignForms are forms of PostgreSQL and MySQL that SQLite does not read. They match a statement as [skeleton] gives it.
//
//nolint:gochecknoglobals // constants
var foreignForms = []struct {
	form *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`(?i)\bAUTO_INCREMENT\b`), "write INTEGER PRIMARY KEY, which numbers rows by itself"},
	{regexp.MustCompile(`(?i)\bNOW \( \)`), "write CURRENT_TIMESTAMP, which is what NOW() is"},
	{regexp.MustCompile(`(?i)\b(gen_random_uuid|uuid_generate_v4|uuid) \( \)`), "write (lower(hex(randomblob(16)))) for a random id"},
	{
		regexp.MustCompile(`(?i)\) (ENGINE|AUTO_INCREMENT|(DEFAULT )?(CHARSET|CHARACTER SET|COLLATE))\b`),
		"leave out the options behind the columns",
	},
	{regexp.MustCompile(`(?i)^DROP .* (CASCADE|RESTRICT)$`), "leave out the last word"},
	{
		regexp.MustCompile(`(?i)^CREATE TYPE\b`),
		"leave the statement out, and write TEXT CHECK (column IN ('a', 'b')) for a column of that type",
	},
	{regexp.MustCompile(`(?i)^CREATE EXTENSION\b`), "leave the statement out: there are no extensions"},
	{regexp.MustCompile(`(?i)^(CREATE|ALTER) SEQUENCE\b`), "leave the statement out: INTEGER PRIMARY KEY numbers rows by itself"},
	{regexp.MustCompile(`(?i)^((UN)?LOCK TABLES|SET)\b`), "leave the statement out: it is about a session"},
	{regexp.MustCompile(`(?i)^COPY .* FROM stdin$`), "have the dump write INSERT statements: pg_dump --inserts"},
	{regexp.MustCompile(`(?i)\bpublic \. `), "leave out the schema before the name: public"},
}

// ForeignFix is what to write for the first form of another database in a statement that SQLite does not read, by
// SQLite's message; "" for none.
func ForeignFix(statement []byte, msg string) string {
	if !strings.HasSuffix(msg, "syntax error") && !strings.HasPrefix(msg, "no such function") && msg != "unknown database public" {
		return ""
	}
	text, first, fix := normalizeSpace(statement), -1, ""
	for _, f := range foreignForms {
		if at := f.form.FindStringIndex(text); at != nil && (first < 0 || at[0] < first) {
			first, fix = at[0], isSQLite+f.fix
		}
	}
	return fix
}

const isSQLite = "the database is SQLite: "

// normalizeSpace is a statement with one space between its tokens, and nothing in its quotes.
func normalizeSpace(statement []byte) string {
	var tokens []string
	for pos := 0; pos < len(statement); {
		t := nextToken(statement, pos)
		pos = t.end
		switch t.kind {
		case tokenSpace, tokenSemicolon:
		case tokenQuoted:
			tokens = append(tokens, "''")
		default:
			tokens = append(tokens, string(statement[t.start:t.end]))
		}
	}
	return strings.Join(tokens, " ")
}
