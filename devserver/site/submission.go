package site

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// submissionsLedger remembers, in the site's own database, which leads have
// their row. Entry and row are one transaction, so a lead has exactly one row
// however often the copying is tried.
const submissionsLedger = `CREATE TABLE IF NOT EXISTS _pages_submissions (
  lead_id    TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID`

// submit copies a lead into the site's own table and notes on the lead how that
// went. The lead is safe whatever happens here.
func (s *Store) submit(ctx context.Context, db *sql.DB, l Lead) (Submission, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	result := Submission{Table: l.Submission.Table, Status: SubmissionWritten}
	if err := writeSubmission(ctx, db, l); err != nil {
		result.Status, result.Error = SubmissionFailed, err.Error()
		if isTransient(ctx, err) {
			result.Status = SubmissionPending
		}
	}
	if result == l.Submission {
		return result, nil
	}
	const note = `UPDATE leads SET submission_status = ?, submission_error = ? WHERE id = ?`
	_, err := s.db.ExecContext(ctx, note, string(result.Status), result.Error, l.ID)
	return result, err
}

// isTransient reports whether trying again later may help without anybody
// changing the table.
func isTransient(ctx context.Context, err error) bool {
	switch sqliteKind(err) {
	case sqliteBusy, sqliteLocked, sqliteIO, sqliteFull:
		return true
	}
	return ctx.Err() != nil
}

// retrySubmissions finishes what a crash or a busy database left undone, and
// with failed also tries the rows that the table refused, which changes nothing
// as long as it refuses them. It gives up, with some left, when the database is
// still busy.
func (s *Store) retrySubmissions(ctx context.Context, db *sql.DB, failed bool) (left bool, err error) {
	const query = selectLeads +
		` WHERE (l.submission_status = 'pending' OR ? AND l.submission_status = 'failed') AND l.seq > ? ORDER BY l.seq`
	each := inPieces(0, 0, func(after int64, _ int) ([]placed[Lead], error) {
		rows, err := s.db.QueryContext(ctx, query, failed, after)
		if err != nil {
			return nil, err
		}
		return readChunk(rows, scanLead)
	})
	for l, err := range each {
		if err != nil {
			return true, err
		}
		result, err := s.submit(ctx, db, l)
		if err != nil || result.Status == SubmissionPending {
			return true, err
		}
	}
	return false, nil
}

// platformPrefixes begin the names of tables that are not the author's to write, as they are not a Worker's: among
// them the ledgers of leads and of migrations.
var platformPrefixes = [...]string{"_pages_", "_cf_"}

func writeSubmission(ctx context.Context, db *sql.DB, l Lead) error {
	for _, prefix := range platformPrefixes {
		if strings.HasPrefix(strings.ToLower(l.Submission.Table), prefix) {
			return fmt.Errorf("names that begin with %q belong to the platform", prefix)
		}
	}
	return transact(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, submissionsLedger); err != nil {
			return err
		}
		const enter = `INSERT INTO _pages_submissions (lead_id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`
		result, err := tx.ExecContext(ctx, enter, l.ID, l.CreatedAt.Format(timeLayout))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		columns, err := tableColumns(ctx, tx, l.Submission.Table)
		if err != nil {
			return err
		}
		names, values := submissionRow(columns, l)
		if _, err := tx.ExecContext(ctx, insertRow(l.Submission.Table, names), values...); err != nil {
			return err
		}
		// A trigger of the site may have rolled everything back and gone on.
		var kept int
		return tx.QueryRowContext(ctx, `SELECT 1 FROM _pages_submissions WHERE lead_id = ?`, l.ID).Scan(&kept)
	})
}

// column is a column that a visitor's answer may fill.
type column struct {
	name string
	kind string // declared type, in upper case
}

// tableColumns lists the columns of a table that may be written, by lower-case
// name. Generated columns and the rowid are left out: a visitor does not choose
// the key of a row.
func tableColumns(ctx context.Context, tx *sql.Tx, table string) (columns map[string]column, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, upper(type), pk, hidden FROM pragma_table_xinfo(?)`, table)
	if err != nil {
		return nil, err
	}
	type described struct {
		name, kind string
		pk, hidden int
	}
	all, err := collect(rows, func(row scanner) (d described, err error) {
		return d, row.Scan(&d.name, &d.kind, &d.pk, &d.hidden)
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no such table: %q", table)
	}
	columns = map[string]column{}
	for _, d := range all {
		if d.hidden != 0 || d.pk > 0 && d.kind == "INTEGER" {
			continue
		}
		columns[strings.ToLower(d.name)] = column{name: d.name, kind: d.kind}
	}
	return columns, nil
}

// submissionRow matches answers with columns. What the platform knows goes
// into its columns last, so that no answer can pretend to be it.
func submissionRow(columns map[string]column, l Lead) (names []string, values []any) {
	row := map[string]any{}
	for _, f := range l.Fields {
		if c, ok := columns[strings.ToLower(f.Name)]; ok {
			row[strings.ToLower(f.Name)] = c.value(f)
		}
	}
	row["form"], row["lead_id"] = l.Form, l.ID
	row["created_at"] = columns["created_at"].time(l.CreatedAt.Time)
	if all, err := marshal(l.Fields); err == nil {
		row["fields"] = string(all)
		if _, answered := row["data"]; !answered { // a form may well ask for "data"
			row["data"] = string(all)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(columns)) {
		if value, ok := row[key]; ok {
			names = append(names, columns[key].name)
			values = append(values, value)
		}
	}
	return names, values
}

// time writes a time as text, and as milliseconds where the column holds integers.
func (c column) time(t time.Time) any {
	if strings.Contains(c.kind, "INT") {
		return t.UnixMilli()
	}
	return t.Format(timeLayout)
}

// value turns an answer into a value for the column. SQLite itself turns text
// into a number where the column asks for one; true and false it does not know.
func (c column) value(f Field) any {
	word := string(f.Value)
	switch {
	case word == "null":
		return nil
	case (word == "true" || word == "false") && !strings.Contains(c.kind, "TEXT"):
		return word == "true"
	}
	return f.text()
}

// insertRow makes the statement. A table without a matching column still gets its row.
func insertRow(table string, names []string) string {
	if len(names) == 0 {
		return "INSERT INTO " + quoteName(table) + " DEFAULT VALUES"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return "INSERT INTO " + quoteName(table) + " (" + strings.Join(quoted, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Resubmit tries to write the row of one lead again, unless it is written, and
// returns how that went. db is the site's own database.
func (s *Store) Resubmit(ctx context.Context, db *sql.DB, id string) (Submission, error) {
	l, err := s.lead(ctx, id)
	if err != nil {
		return Submission{}, err
	}
	if l.Submission.Status == SubmissionNone || l.Submission.Status == SubmissionWritten {
		return l.Submission, nil
	}
	return s.submit(ctx, db, l)
}
