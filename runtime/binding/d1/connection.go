package d1

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/rowlimit"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file drives one connection of a *sql.DB through SQLite's C interface, which the driver publishes as Go. database/sql
// does not suffice: it turns the text of a column declared DATETIME into a time.Time, cannot interrupt a query after its
// first row, and hides the error's offset, the end of the first statement and the number of parameters. The handle is read
// from the driver by reflection; any other driver is refused.

// sqlHandle is one connection, used by one goroutine at a time.
type sqlHandle struct {
	conn  *sql.Conn
	tls   *libc.TLS
	db    uintptr
	out   uintptr // the two pointers that prepare returns
	guard *authorizer
	cache map[cacheKey]*cachedStatement
	// stale is set when the schema changed after the costs in cache were computed.
	stale bool
	// unbounded lifts the bound on the length of SQL, for a Console.
	unbounded bool
	deadline  *int64 // of runBriefly
}

// cacheKey separates our own statements from the Worker's: the Worker must not reuse our COMMIT.
type cacheKey struct {
	text    string
	trusted bool
}

type cachedStatement struct {
	stmt uintptr
	cost sqlCost
	// slow counts the uses that go to another goroutine before the next quick read.
	slow int
	// keys are the columns' names as JSON with the colon, since SQLite compiled it for the recompiled-th time; nil before
	// its first use.
	keys       []string
	recompiled int32
}

const (
	maxCachedStatements = 128      // of a connection
	maxCachedText       = 16 << 10 // bytes; a longer statement is not cached
)

var errForeignDriver = errors.New("the database is not opened by the SQLite driver this is built on")

func openHandle(ctx context.Context, pool *sql.DB, guard *authorizer) (*sqlHandle, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	h := &sqlHandle{conn: conn, tls: libc.NewTLS(), guard: guard, cache: map[cacheKey]*cachedStatement{}}
	h.out = libc.Xmalloc(h.tls, 32)
	err = conn.Raw(func(c any) error {
		db := reflect.Indirect(reflect.ValueOf(c)).FieldByName("db")
		r, ok := c.(sqlite.AuthorizerRegisterer)
		if !ok || db.Kind() != reflect.Uintptr {
			return errForeignDriver
		}
		h.db = uintptr(db.Uint())
		for id, n := range workerLimits {
			sqlite3.Xsqlite3_limit(h.tls, h.db, id, n)
		}
		sqlite3.Xsqlite3_db_config(h.tls, h.db, sqlite3.SQLITE_DBCONFIG_DEFENSIVE, libc.VaList(h.out, int32(1), uintptr(0)))
		h.deadline = new(int64)
		deadlines.Store(h.db, h.deadline)
		sqlite3.Xsqlite3_progress_handler(h.tls, h.db, progressSteps, checkDeadlineC, h.db)
		return r.RegisterAuthorizer(guard.authorize)
	})
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// maxSQLText is the longest SQL of a Worker, in bytes, as in D1.
const maxSQLText = 100_000

var workerLimits = map[int32]int32{
	sqlite3.SQLITE_LIMIT_LENGTH:          4 << 20,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:      maxSQLText,
	sqlite3.SQLITE_LIMIT_COLUMN:          100,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:      100,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 5,
	// D1's documented figure is 25,000, but it accepts statements of 60,000. This bound covers 100
	// kB of SQL, and keeps nested views from using all memory.
	sqlite3.SQLITE_LIMIT_VDBE_OP:             500_000,
	sqlite3.SQLITE_LIMIT_FUNCTION_ARG:        127,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
	sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER:     100,
	sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH:       10,
}

// close makes the pool discard the connection, because its limits and its authorizer stay.
func (h *sqlHandle) close() {
	_ = h.conn.Raw(func(any) error {
		h.forget()
		if h.deadline != nil {
			sqlite3.Xsqlite3_progress_handler(h.tls, h.db, 0, 0, 0)
			deadlines.Delete(h.db)
		}
		return driver.ErrBadConn
	})
	_ = h.conn.Close()
	libc.Xfree(h.tls, h.out)
	h.tls.Close()
}

func (h *sqlHandle) forget() {
	for _, cached := range h.cache {
		sqlite3.Xsqlite3_finalize(h.tls, cached.stmt)
	}
	clear(h.cache)
}

// do runs fn on the connection, and interrupts its statement when ctx ends: again and again, because SQLite forgets an
// interrupt that arrives between two statements.
func (h *sqlHandle) do(ctx context.Context, fn func() error) error {
	done, interrupted := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		tls := libc.NewTLS()
		defer tls.Close()
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for {
			sqlite3.Xsqlite3_interrupt(tls, h.db)
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	})
	err := h.conn.Raw(func(any) error { return fn() })
	if !stop() {
		close(done)
		<-interrupted
	}
	return err
}

type sqlStatement struct {
	h      *sqlHandle
	stmt   uintptr
	rest   string           // after the statement and its space; it may be a comment
	cost   sqlCost          // not of our own statements
	cached *cachedStatement // nil when it is not cached
}

// prepare compiles the first statement of text. For a text without a statement, stmt is 0.
func (h *sqlHandle) prepare(text string) (sqlStatement, error) {
	if h.stale {
		h.forget()
		h.stale = false
	}
	key := cacheKey{text, h.guard.trusted}
	if known, ok := h.cache[key]; ok {
		h.guard.reason, h.guard.inside = "", ""
		return known.use(h), nil
	}
	if strings.Contains(text, "\x00") {
		return sqlStatement{}, &sqlError{sqlite3.SQLITE_ERROR, "the SQL has a NUL character", -1}
	}
	if len(text) > maxSQLText && !h.unbounded {
		return sqlStatement{}, &sqlError{sqlite3.SQLITE_TOOBIG, "statement too long", -1}
	}
	stmt, end, err := h.compile(text)
	if failed, ok := errors.AsType[*sqlError](err); ok && rowlimit.Needed(failed.msg) {
		stmt, end, err = h.compileRowLimit(text, failed)
	}
	if err != nil {
		return sqlStatement{}, err
	}
	s := sqlStatement{h: h, stmt: stmt}
	tail := strings.TrimLeft(text[end:], " \t\n\r\v\f")
	if !h.guard.trusted && !h.guard.author && s.stmt != 0 {
		s.cost = h.cost(h.guard.use)
	}
	switch {
	case tail != "":
		s.rest = tail
	case s.stmt != 0 && len(text) <= maxCachedText:
		s.cached = &cachedStatement{stmt: s.stmt, cost: s.cost}
		if len(h.cache) >= maxCachedStatements {
			h.forget()
		}
		h.cache[key] = s.cached
	}
	return s, nil
}

// compile compiles the first statement of text with SQLite, and returns the byte at which it ends. The statement is 0 for none.
func (h *sqlHandle) compile(text string) (stmt uintptr, end int, err error) {
	p, err := libc.CString(text)
	if err != nil {
		return 0, 0, err
	}
	defer libc.Xfree(h.tls, p)
	h.guard.reason, h.guard.inside, h.guard.text, h.guard.use = "", "", text, sqlUse{}
	const word = 8
	if rc := sqlite3.Xsqlite3_prepare_v3(
		h.tls, h.db, p, int32(len(text)+1), sqlite3.SQLITE_PREPARE_PERSISTENT, h.out, h.out+word,
	); rc != sqlite3.SQLITE_OK {
		return 0, 0, h.error()
	}
	pointers := libc.GoBytes(h.out, 2*word)
	return uintptr(binary.NativeEndian.Uint64(pointers)), int(uintptr(binary.NativeEndian.Uint64(pointers[word:])) - p), nil
}

// compileRowLimit compiles an UPDATE or DELETE with ORDER BY or LIMIT, which SQLite refused. Errors are about bytes of text.
func (h *sqlHandle) compileRowLimit(text string, refused *sqlError) (stmt uintptr, end int, err error) {
	s, err := rowlimit.Rewrite(text, h.columns)
	if wrong, ok := errors.AsType[*rowlimit.Error](err); ok {
		return 0, 0, &sqlError{sqlite3.SQLITE_ERROR, wrong.Message, wrong.Offset}
	}
	if err != nil {
		return 0, 0, err
	}
	if s == nil {
		return 0, 0, refused
	}
	stmt, _, err = h.compile(s.Text)
	if failed, ok := errors.AsType[*sqlError](err); ok {
		failed.msg, failed.offset = s.Blame(failed.msg, failed.offset)
	}
	return stmt, s.End, err
}

// columns runs a query of our own for the columns of a table.
func (h *sqlHandle) columns(text string) (columns []rowlimit.Column, err error) {
	trusted := h.guard.trusted
	h.guard.trusted = true
	defer func() { h.guard.trusted = trusted }()
	s, err := h.prepare(text)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for {
		more, err := s.step()
		if err != nil || !more {
			return columns, err
		}
		text := func(i int32) string { return libc.GoString(sqlite3.Xsqlite3_column_text(h.tls, s.stmt, i)) }
		number := func(i int32) int { return int(sqlite3.Xsqlite3_column_int64(h.tls, s.stmt, i)) }
		columns = append(columns, rowlimit.Column{
			Schema: text(0), Table: text(1), Type: text(2), WithoutRowid: number(3) != 0, Name: text(4), Part: number(5),
		})
	}
}

func (s *cachedStatement) use(h *sqlHandle) sqlStatement {
	return sqlStatement{h: h, stmt: s.stmt, cost: s.cost, cached: s}
}

func (h *sqlHandle) error() error {
	code := sqlite3.Xsqlite3_extended_errcode(h.tls, h.db)
	e := &sqlError{int(code), libc.GoString(sqlite3.Xsqlite3_errmsg(h.tls, h.db)), int(sqlite3.Xsqlite3_error_offset(h.tls, h.db))}
	if code == sqlite3.SQLITE_AUTH && h.guard.reason != "" {
		e.msg, e.offset = "not authorized: "+h.guard.reason, -1
	}
	if h.guard.inside != "" {
		e.msg += ` (in the view or trigger "` + h.guard.inside + `")`
	}
	return e
}

// runTrusted runs a statement of our own, past the guard.
func (h *sqlHandle) runTrusted(text string) error {
	h.guard.trusted = true
	defer func() { h.guard.trusted = false }()
	s, err := h.prepare(text)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		if more, err := s.step(); err != nil || !more {
			return err
		}
	}
}

// close makes the statement ready for its next use, or frees it.
func (s sqlStatement) close() {
	if s.cached == nil {
		sqlite3.Xsqlite3_finalize(s.h.tls, s.stmt)
		return
	}
	sqlite3.Xsqlite3_reset(s.h.tls, s.stmt)
}

func (s sqlStatement) step() (row bool, err error) {
	switch sqlite3.Xsqlite3_step(s.h.tls, s.stmt) {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.h.error()
	}
}

func (s sqlStatement) readOnly() bool { return sqlite3.Xsqlite3_stmt_readonly(s.h.tls, s.stmt) != 0 }

// bind sets the parameters: nil, float64, string or []byte. A number is
// always bound as REAL, as D1 binds it; a column's affinity makes it INTEGER.
func (s sqlStatement) bind(params []any) error {
	if n := int(sqlite3.Xsqlite3_bind_parameter_count(s.h.tls, s.stmt)); n != len(params) {
		return errBindings
	}
	for i, param := range params {
		var rc int32
		switch v := param.(type) {
		case nil:
			rc = sqlite3.Xsqlite3_bind_null(s.h.tls, s.stmt, int32(i+1))
		case float64:
			if math.IsInf(v, 0) { // D1's requests are JSON, which has no infinity
				rc = sqlite3.Xsqlite3_bind_null(s.h.tls, s.stmt, int32(i+1))
				break
			}
			rc = sqlite3.Xsqlite3_bind_double(s.h.tls, s.stmt, int32(i+1), v)
		case string:
			if s.tooLong(len(v)) {
				return errLongValue
			}
			rc = s.bindBytes(sqlite3.Xsqlite3_bind_text, i, strings.ToValidUTF8(v, "\uFFFD"))
		case []byte:
			if s.tooLong(len(v)) {
				return errLongValue
			}
			rc = s.bindBytes(sqlite3.Xsqlite3_bind_blob, i, string(v))
		default:
			kind := "object"
			if u, ok := param.(engine.Unsupported); ok {
				kind = u.Type
			}
			return &engine.Error{Name: "Error", Message: fmt.Sprintf("D1_TYPE_ERROR: Type '%s' not supported for a bound value", kind)}
		}
		if rc != sqlite3.SQLITE_OK {
			return s.h.error()
		}
	}
	return nil
}

// tooLong reports whether SQLite would refuse a value of n bytes after copying it.
func (s sqlStatement) tooLong(n int) bool {
	const leastLimit = 1 << 20
	return n > leastLimit && n > int(sqlite3.Xsqlite3_limit(s.h.tls, s.h.db, sqlite3.SQLITE_LIMIT_LENGTH, -1))
}

func (s sqlStatement) bindBytes(bind func(*libc.TLS, uintptr, int32, uintptr, int32, uintptr) int32, i int, v string) int32 {
	p, err := libc.CString(v)
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(s.h.tls, p)
	return bind(s.h.tls, s.stmt, int32(i+1), p, int32(len(v)), sqlite3.SQLITE_TRANSIENT)
}

func (s sqlStatement) columns() []string {
	names := make([]string, sqlite3.Xsqlite3_column_count(s.h.tls, s.stmt))
	for i := range names {
		names[i] = libc.GoString(sqlite3.Xsqlite3_column_name(s.h.tls, s.stmt, int32(i)))
	}
	return names
}

func (s sqlStatement) keys() []string {
	recompiled := sqlite3.Xsqlite3_stmt_status(s.h.tls, s.stmt, sqlite3.SQLITE_STMTSTATUS_REPREPARE, 0)
	if s.cached != nil && s.cached.keys != nil && s.cached.recompiled == recompiled {
		return s.cached.keys
	}
	keys := s.columns()
	for i, name := range keys {
		keys[i] = string(append(hostcall.AppendJSONString(nil, name), ':'))
	}
	if s.cached != nil {
		s.cached.keys, s.cached.recompiled = keys, recompiled
	}
	return keys
}

// blankSQL reports whether text holds only space, comments and semicolons.
func blankSQL(text string) bool {
	for {
		text = strings.TrimLeft(text, " \t\n\f\r;")
		switch {
		case text == "":
			return true
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text[2:], "*/")
		default:
			return false
		}
	}
}
