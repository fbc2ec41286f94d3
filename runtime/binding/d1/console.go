package d1

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// ConsoleOptions restrict the author's own SQL. The zero value allows the same statements as the site's Worker.
type ConsoleOptions struct {
	// ReadOnly refuses every statement that writes.
	ReadOnly bool
	// Unbounded, for reading dumps back, lifts the limits on lengths and counts, and permits writes to the platform's own tables and to the
	// internal tables of virtual tables. SQL still stays inside this database.
	Unbounded bool
	// KeysLater does not enforce foreign keys: a dump fills tables before those that they refer to exist. The caller
	// checks them before Commit.
	KeysLater bool
	// Only lists the tables and views that statements may read, if it is not empty. No PRAGMA is available then.
	Only []string
	// Prepare are statements of the caller that run first, without these restrictions: they may create temporary views.
	Prepare []string
}

// Console is one connection to a database for the author's own statements, under the sandbox of a Worker. It is
// used by one goroutine at a time; the context of each call interrupts the statement.
//
// Errors of statements are an [*SQLError].
type Console struct {
	handle *sqlHandle
	guard  authorizer
	o      ConsoleOptions
}

// SQLError is a statement that SQLite or the sandbox refused, or that failed.
type SQLError struct {
	// Msg is SQLite's own text, Code its extended result code.
	Msg  string
	Code int
	// Offset is the byte of the statement's text that the message is about; -1 when unknown.
	Offset int
}

func (e *SQLError) Error() string { return e.Msg }

// At is Offset, for an interface of callers.
func (e *SQLError) At() int { return e.Offset }

// Busy reports whether another connection held a lock for too long.
func (e *SQLError) Busy() bool {
	return e.Code&0xff == sqlite3.SQLITE_BUSY || e.Code&0xff == sqlite3.SQLITE_LOCKED
}

// Full reports whether the disk has no room.
func (e *SQLError) Full() bool { return e.Code&0xff == sqlite3.SQLITE_FULL }

// OnlyReading reports whether the statement writes, in a console that only reads.
func (e *SQLError) OnlyReading() bool { return e.Msg == errOnlyReading.Error() }

// ForeignKey reports whether rows name rows that do not exist.
func (e *SQLError) ForeignKey() bool { return e.Code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY }

// Damaged reports whether the file is not a valid database.
func (e *SQLError) Damaged() bool {
	return e.Code&0xff == sqlite3.SQLITE_CORRUPT || e.Code&0xff == sqlite3.SQLITE_NOTADB
}

const errOnlyReading = sqlRefusalError("this statement writes, and the command is read-only")

// NewConsole reserves a connection of db until Close.
func NewConsole(ctx context.Context, db *sql.DB, o ConsoleOptions) (*Console, error) {
	c := &Console{o: o}
	c.guard.platform, c.guard.author = o.Unbounded, true
	h, err := openHandle(ctx, db, &c.guard)
	if err != nil {
		return nil, err
	}
	c.handle = h
	if err := c.prepare(ctx, db); err != nil {
		h.close()
		return nil, err
	}
	if o.Unbounded {
		_ = h.conn.Raw(func(any) error { // the function's error is the only one
			h.unbounded = true
			for id := range workerLimits { // SQLite reduces each to its built-in maximum
				sqlite3.Xsqlite3_limit(h.tls, h.db, id, math.MaxInt32)
			}
			sqlite3.Xsqlite3_limit(h.tls, h.db, sqlite3.SQLITE_LIMIT_ATTACHED, 0)
			sqlite3.Xsqlite3_db_config(h.tls, h.db, sqlite3.SQLITE_DBCONFIG_DEFENSIVE, libc.VaList(h.out, int32(0), uintptr(0)))
			return nil
		})
	}
	return c, nil
}

// prepare runs the statements of the options, and restricts later ones.
func (c *Console) prepare(ctx context.Context, db *sql.DB) error {
	for _, text := range c.o.Prepare {
		if err := c.runTrusted(ctx, text); err != nil {
			return err
		}
	}
	if len(c.o.Only) == 0 {
		return nil
	}
	var names string
	const all = `SELECT coalesce(group_concat(lower(name), ' '), '') FROM sqlite_schema WHERE type IN ('table', 'view')`
	if err := db.QueryRowContext(ctx, all).Scan(&names); err != nil {
		return err
	}
	c.guard.only = setOf(strings.ToLower(strings.Join(c.o.Only, " ")))
	c.guard.tables = setOf(names + " sqlite_schema sqlite_master sqlite_temp_schema sqlite_temp_master")
	return nil
}

// Close ends an open transaction, and releases the connection.
func (c *Console) Close() error {
	c.handle.close()
	return nil
}

// Begin starts a transaction: for reading only with ReadOnly, otherwise one that may write at once. Foreign keys are
// checked at its end.
func (c *Console) Begin(ctx context.Context) error {
	begin := []string{"BEGIN IMMEDIATE", "PRAGMA defer_foreign_keys=ON"}
	switch {
	case c.o.ReadOnly:
		begin = []string{"BEGIN"}
	case c.o.KeysLater:
		begin = []string{"PRAGMA foreign_keys=OFF", "BEGIN IMMEDIATE"}
	}
	for _, text := range begin {
		if err := c.runTrusted(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Commit ends the transaction; when it fails, Rollback is still due.
func (c *Console) Commit(ctx context.Context) error { return c.runTrusted(ctx, "COMMIT") }

// Rollback undoes the transaction, also one that a statement has ended by itself.
func (c *Console) Rollback(ctx context.Context) error {
	if c.Idle() {
		return nil
	}
	return c.runTrusted(context.WithoutCancel(ctx), "ROLLBACK")
}

// Idle reports whether no transaction is open: a trigger's RAISE(ROLLBACK) ends one.
func (c *Console) Idle() bool {
	return sqlite3.Xsqlite3_get_autocommit(c.handle.tls, c.handle.db) != 0
}

func (c *Console) runTrusted(ctx context.Context, text string) error {
	return c.run(ctx, func() error { return c.handle.runTrusted(text) })
}

func (c *Console) run(ctx context.Context, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := c.handle.do(ctx, fn)
	if se, ok := errors.AsType[*sqlError](err); ok {
		if ctx.Err() != nil && se.code&0xff == sqlite3.SQLITE_INTERRUPT {
			return ctx.Err()
		}
		return &SQLError{Msg: se.msg, Code: se.code, Offset: se.offset}
	}
	if refusal, ok := errors.AsType[sqlRefusalError](err); ok {
		return &SQLError{Msg: string(refusal), Offset: -1}
	}
	return err
}

// Named is an argument of Run for the parameter ":name", "@name" or "$name".
type Named struct {
	Name  string
	Value any
}

// Run runs one statement; text after its semicolon is an error. Values, those of args and of rows, are nil, int64,
// float64, string for TEXT, which may be invalid UTF-8, and []byte for a BLOB; args may also be [Named].
//
// begin, if not nil, gets the columns of a statement that gives rows, and row each of the rows; an error of either ends the
// statement. The slice and the bytes of BLOBs are valid until row returns. changes counts the rows written.
func (c *Console) Run(
	ctx context.Context, text string, args []any, begin func(columns []string) error, row func(values []any) error,
) (changes int64, err error) {
	err = c.run(ctx, func() error {
		s, err := c.handle.prepare(text)
		for err == nil && s.stmt == 0 && s.rest != "" { // a semicolon alone
			s, err = c.handle.prepare(s.rest)
		}
		if err != nil {
			return err
		}
		if s.stmt == 0 {
			return errNoStatement
		}
		defer s.close()
		if !blankSQL(s.rest) {
			return sqlRefusalError("there is more SQL after the first statement")
		}
		if c.o.ReadOnly && !s.readOnly() {
			return errOnlyReading
		}
		if err := s.bindAll(args); err != nil {
			return err
		}
		before := sqlite3.Xsqlite3_total_changes64(s.h.tls, s.h.db)
		err = s.rows(ctx, begin, row)
		changes = sqlite3.Xsqlite3_total_changes64(s.h.tls, s.h.db) - before
		return err
	})
	return changes, err
}

func (s sqlStatement) rows(ctx context.Context, begin func([]string) error, row func([]any) error) error {
	var values []any
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := s.step()
		if err != nil {
			return err
		}
		if first { // not earlier: the step may have recompiled s for a new schema
			columns := s.columns()
			values = make([]any, len(columns))
			if begin != nil && len(columns) > 0 {
				err = begin(columns)
			}
		}
		if err != nil || !more {
			return err
		}
		for i := range values {
			values[i] = s.value(i)
		}
		if row != nil {
			err = row(values)
		}
		if err != nil {
			return err
		}
	}
}

// value is column i as stored.
func (s sqlStatement) value(i int) any {
	tls, stmt, at := s.h.tls, s.stmt, int32(i)
	switch sqlite3.Xsqlite3_column_type(tls, stmt, at) {
	case sqlite3.SQLITE_INTEGER:
		return sqlite3.Xsqlite3_column_int64(tls, stmt, at)
	case sqlite3.SQLITE_FLOAT:
		return sqlite3.Xsqlite3_column_double(tls, stmt, at)
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(tls, stmt, at)
		return string(columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)))
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(tls, stmt, at)
		if b := columnBytes(p, sqlite3.Xsqlite3_column_bytes(tls, stmt, at)); b != nil {
			return b
		}
		return []byte{}
	default:
		return nil
	}
}

// bindAll binds each parameter to its value. A missing value or parameter is an error.
func (s sqlStatement) bindAll(args []any) error {
	sqlite3.Xsqlite3_clear_bindings(s.h.tls, s.stmt)
	count := int(sqlite3.Xsqlite3_bind_parameter_count(s.h.tls, s.stmt))
	given := make(map[int]bool, len(args))
	next := 0
	for _, a := range args {
		named, ok := a.(Named)
		at := 0
		if ok {
			a = named.Value
			if at = s.parameter(named.Name); at == 0 {
				return sqlRefusalError("the statement has no parameter " + named.Name)
			}
		} else {
			next++
			for given[next] { // by name
				next++
			}
			at = next
		}
		if at > count {
			break // an error below
		}
		given[at] = true
		if err := s.bindStored(at, a); err != nil {
			return err
		}
	}
	if len(given) != count || len(args) != count {
		return sqlRefusalError(fmt.Sprintf("parameters of the statement: %d; values that are given: %d", count, len(args)))
	}
	return nil
}

// parameter returns the number of a named parameter, from 1; 0 for none.
func (s sqlStatement) parameter(name string) int {
	p, err := libc.CString(name)
	if err != nil {
		return 0
	}
	defer libc.Xfree(s.h.tls, p)
	return int(sqlite3.Xsqlite3_bind_parameter_index(s.h.tls, s.stmt, p))
}

// bindStored sets parameter at, from 1, to a value of a storage class of SQLite.
func (s sqlStatement) bindStored(at int, value any) error {
	var rc int32
	switch v := value.(type) {
	case nil:
		rc = sqlite3.Xsqlite3_bind_null(s.h.tls, s.stmt, int32(at))
	case int64:
		rc = sqlite3.Xsqlite3_bind_int64(s.h.tls, s.stmt, int32(at), v)
	case float64:
		rc = sqlite3.Xsqlite3_bind_double(s.h.tls, s.stmt, int32(at), v)
	case string:
		rc = s.bindBytes(sqlite3.Xsqlite3_bind_text, at-1, v)
	case []byte:
		rc = s.bindBytes(sqlite3.Xsqlite3_bind_blob, at-1, string(v))
	default:
		return fmt.Errorf("a parameter cannot be a %T", value)
	}
	if rc != sqlite3.SQLITE_OK {
		return s.h.error()
	}
	return nil
}

// allNames selects the author's own tables and views, in the order they were made, each with its columns.
const allNames = `SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
	WHERE s.type IN ('table', 'view') AND s.name NOT LIKE '\_pages\_%' ESCAPE '\'
	AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY s.rowid, c.cid`

// Tables are the tables and views of a database, in the order they were made: for suggestions when a name does not exist.
type Tables struct {
	Names   []string
	Columns []string // of all of them
}

func (t *Tables) add(table, column string) {
	if n := len(t.Names); n == 0 || t.Names[n-1] != table {
		t.Names = append(t.Names, table)
	}
	t.Columns = append(t.Columns, column)
}

// Tables returns the author's own tables and views; none when they cannot be read.
func (d *Database) Tables(ctx context.Context) Tables {
	text, err := d.query(ctx, Query{SQL: allNames}, shapeRaw, "")
	var rows [][2]string
	if err != nil || json.Unmarshal(text.bytes(), &rows) != nil {
		return Tables{}
	}
	var t Tables
	for _, row := range rows {
		t.add(row[0], row[1])
	}
	return t
}

// Tables returns the author's own tables and views; none when they cannot be read.
func (c *Console) Tables(ctx context.Context) Tables {
	var t Tables
	_, err := c.Run(ctx, allNames, nil, nil, func(v []any) error {
		table, _ := v[0].(string)
		column, _ := v[1].(string)
		t.add(table, column)
		return nil
	})
	if err != nil {
		return Tables{}
	}
	return t
}
