package migrate

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// limit is a size that the platform's databases refuse (modelled on those of Cloudflare D1). A statement over one is
// refused unless [limit.passes].
type limit struct {
	id, max int
	says    string // part of SQLite's message about it
	what    string // the limit in words
}

var platformLimits = []limit{
	{sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000, "statement too long", "a statement has at most 100,000 bytes"},
	{sqlite3.SQLITE_LIMIT_LENGTH, 2_000_000, "string or blob too big", "a text, blob or row has at most 2,000,000 bytes"},
	{sqlite3.SQLITE_LIMIT_COLUMN, 100, "too many columns", "a table, index or result has at most 100 columns"},
	{sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100, "Expression tree is too large", "an expression is at most 100 levels deep"},
	{sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 5, "too many terms in compound SELECT", "a compound SELECT has at most 5 terms"},
	{sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 32, "too many arguments on function", "a function takes at most 32 arguments"},
	{sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50, "LIKE or GLOB pattern too complex", "a LIKE or GLOB pattern has at most 50 bytes"},
	{sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 10, "too many levels of trigger recursion", "triggers fire each other at most 10 levels deep"},
	{sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000, "out of memory", "a statement compiles to at most 25,000 steps"},
}

// limitConn sets the platform's limits; restore sets those from before.
func limitConn(conn *sql.Conn) (restore func() error, err error) {
	var before []limit
	restore = func() error {
		var errs []error
		for _, l := range before {
			_, err := sqlite.Limit(conn, l.id, l.max)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	for _, l := range platformLimits {
		was, err := sqlite.Limit(conn, l.id, l.max)
		if err != nil {
			return nil, errors.Join(err, restore())
		}
		before = append(before, limit{id: l.id, max: was})
	}
	return restore, nil
}

// limitOf returns the limit that SQLite's error about a statement names.
func limitOf(statement string, err error) (limit, bool) {
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return limit{}, false
	}
	if se.Code() == sqlite3.SQLITE_TOOBIG && len(statement) > platformLimits[0].max {
		return platformLimits[0], true // SQLite has the same code and text for the next limit
	}
	text := message(err)
	for _, l := range platformLimits {
		if strings.Contains(text, l.says) || se.Code() == sqlite3.SQLITE_NOMEM && l.id == sqlite3.SQLITE_LIMIT_VDBE_OP {
			return l, true
		}
	}
	return limit{}, false
}

// passes reports whether a statement over the limit still runs: one with many steps, and any statement on a database that
// already has a table over the limit, since SQLite fails each time it reads the schema.
func (l limit) passes(err error) bool {
	return l.id == sqlite3.SQLITE_LIMIT_VDBE_OP || inSchema(err)
}

// fix returns the advice for a statement over the limit.
func (l limit) fix() string {
	switch l.id {
	case sqlite3.SQLITE_LIMIT_SQL_LENGTH:
		return "write several statements; load rows that are not part of the schema with pages db import"
	case sqlite3.SQLITE_LIMIT_LENGTH:
		return "keep large values in storage, and their keys in the database"
	case sqlite3.SQLITE_LIMIT_COLUMN:
		return "split the table in two, or store related values as JSON in one column"
	default:
		return "split it into smaller ones"
	}
}

// inSchema reports whether an error is about the existing schema, not the statement.
func inSchema(err error) bool { return strings.HasPrefix(message(err), "malformed database schema") }

// beyondLimit runs a statement again without the limit that it exceeded, if [limit.passes], and warns.
func (r *run) beyondLimit(ctx context.Context, f File, s span, err error) error {
	l, ok := limitOf(string(f.SQL[s.start:s.end]), err)
	if !ok {
		return err
	}
	to := maxLimit
	if l.id == sqlite3.SQLITE_LIMIT_VDBE_OP {
		to = maxSteps
	}
	if _, err := sqlite.Limit(r.conn, l.id, to); err != nil {
		return err
	}
	again := r.followed(ctx, f, s)
	if _, err := limitConn(r.conn); err != nil {
		return err
	}
	if again == nil && !inSchema(err) {
		r.result.Warnings = append(r.result.Warnings, Notice{
			Name: f.Name, Code: CodeOverLimit, Pos: position(f.path(), f.SQL, s.start),
			Msg: "the platform may refuse this statement: " + l.what,
		})
	}
	return again
}

const (
	maxLimit = 1<<31 - 1 // SQLite reduces it to its built-in maximum
	maxSteps = 500_000   // more than 100,000 bytes of SQL need; D1 accepts statements of 60,000 steps, over its documented figure
)
