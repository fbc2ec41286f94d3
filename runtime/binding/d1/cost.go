package d1

import (
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file estimates the rows that D1 bills. Production's SQLite counts each row and each index entry that a cursor visits or
// writes. An unpatched one only counts the steps of cursors, so this file adds the initial search of a scan for each table, and
// the index entries of each changed row. It does not count searches inside a join and changes of a schema.

// sqlCost is the cost of a statement, derived from its compiled form.
type sqlCost struct {
	tables  int64 // that are read
	counts  bool  // it may be a bare count(*), which SQLite does in one step
	entries int64 // of indexes, for each row that is written
	schema  bool  // it changes the schema
	selects bool  // it reads, and does not depend on its connection
}

type sqlUse struct {
	read    map[string]bool
	columns bool // of the tables that are read, at least one
	count   bool
	selects bool
	local   bool // it depends on its connection
	written map[string]bool
	insert  bool
	updated []string // columns
}

func (u *sqlUse) note(action sqlite.AuthorizerActionCode, arg1, arg2 string) {
	switch action {
	case sqlite.AuthRead:
		u.read = addName(u.read, arg1)
		u.columns = u.columns || arg2 != ""
	case sqlite.AuthSelect:
		u.selects = true
	case sqlite.AuthPragma:
		u.local = true
	case sqlite.AuthFunction:
		u.count = u.count || strings.EqualFold(arg2, "count")
		u.local = u.local || localFunctions[strings.ToLower(arg2)]
	case sqlite.AuthInsert, sqlite.AuthDelete:
		u.written = addName(u.written, arg1)
		u.insert = u.insert || action == sqlite.AuthInsert
	case sqlite.AuthUpdate:
		u.written = addName(u.written, arg1)
		u.updated = append(u.updated, arg2)
	default: // no counted cost
	}
}

// localFunctions depend on earlier statements of their connection.
var localFunctions = setOf("last_insert_rowid changes total_changes")

func addName(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

func (h *sqlHandle) cost(use sqlUse) sqlCost {
	c := sqlCost{
		tables: int64(len(use.read)), counts: use.count && !use.columns && len(use.read) == 1,
		schema: use.written["sqlite_master"], selects: use.selects && !use.local,
	}
	if len(use.written) != 1 || !use.insert && use.updated == nil { // a delete counts the row alone
		return c
	}
	for table := range use.written {
		table, touched := sqlQuote(table), ""
		if !use.insert {
			quoted := make([]string, len(use.updated))
			for i, column := range use.updated {
				quoted[i] = sqlQuote(column)
			}
			// The rowid is in every index; of an expression the columns are unknown.
			columns := strings.Join(quoted, ",")
			touched = " AND (c.name IS NULL OR c.name IN (" + columns + `) OR
				EXISTS (SELECT 1 FROM pragma_table_info(` + table + `) t
				WHERE t.pk AND t.type = 'INTEGER' COLLATE NOCASE AND t.name IN (` + columns + ")))"
		}
		// In a table without rowid the primary key's index is the table itself.
		c.entries, _ = h.number("SELECT count(DISTINCT i.name) FROM pragma_index_list(" + table + `) i, pragma_index_info(i.name) c
			WHERE (i.origin <> 'pk' OR NOT (SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ` + table + "))" +
			touched)
	}
	return c
}

func sqlQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// number runs a query of our own for one number.
func (h *sqlHandle) number(text string) (n int64, err error) {
	trusted := h.guard.trusted
	h.guard.trusted = true
	defer func() { h.guard.trusted = trusted }()
	s, err := h.prepare(text)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if row, err := s.step(); err != nil || !row {
		return 0, err
	}
	return sqlite3.Xsqlite3_column_int64(h.tls, s.stmt, 0), nil
}

// rowsRead estimates how many rows the statement read. rows is the number of its rows, counted the result of a bare count(*).
func (s sqlStatement) rowsRead(rows, counted int64) int64 {
	steps := int64(0)
	for _, counter := range []int32{
		0, // of the steps that the counters below omit
		sqlite3.SQLITE_STMTSTATUS_FULLSCAN_STEP, sqlite3.SQLITE_STMTSTATUS_SORT, sqlite3.SQLITE_STMTSTATUS_AUTOINDEX,
	} {
		steps += int64(sqlite3.Xsqlite3_stmt_status(s.h.tls, s.stmt, counter, 1))
	}
	switch {
	case s.cost.tables == 0:
		return 0
	case s.cost.counts && steps == 0 && rows == 1:
		return max(counted, 1)
	default:
		return max(steps+s.cost.tables, rows)
	}
}
