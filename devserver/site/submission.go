package site

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// submissionsLedger lists, in the site's own database, the leads that have their row. Entry and row are one
// transaction, so a lead has exactly one row however often it is retried.
const submissionsLedger = `CREATE TABLE IF NOT EXISTS _pages_submissions (
  lead_id    TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID`

// submit copies a lead into the site's own table and stores the outcome with the lead, which is durable already.
func (s *Store) submit(ctx context.Context, db *sql.DB, l Lead) (Submission, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	result := Submission{Table: l.Submission.Table, Status: SubmissionWritten}
	if err := writeSubmission(ctx, db, l); err != nil {
		result.Status, result.Error = SubmissionFailed, err.Error()
		// A retry may succeed without a change of the table.
		transient := []int{sqliteBusy, sqliteLocked, sqliteIO, sqliteFull}
		if slices.Contains(transient, sqliteKind(err)) || ctx.Err() != nil {
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

// retrySubmissions writes the rows that a crash or a busy database left out, and with failed also retries the rows that
// the table refused. It stops, with some left, when the database is still busy.
func (s *Store) retrySubmissions(ctx context.Context, db *sql.DB, failed bool) (left bool, err error) {
	const query = selectLeads +
		` WHERE (l.submission_status = 'pending' OR ? AND l.submission_status = 'failed') AND l.seq > ? ORDER BY l.seq`
	each := inChunks(0, 0, func(after int64, _ int) ([]storedRow[Lead], error) {
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

// platformPrefixes begin the names of tables that neither forms nor Workers may write, such as the ledgers of leads and
// of migrations.
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
		// A trigger of the site may have rolled back and gone on.
		var kept int
		return tx.QueryRowContext(ctx, `SELECT 1 FROM _pages_submissions WHERE lead_id = ?`, l.ID).Scan(&kept)
	})
}

// column is a column that an answer may fill.
type column struct {
	name string
	kind string // declared type, in upper case
}

// tableColumns returns the writable columns of a table, by lower-case name: without generated columns and the rowid,
// since no client chooses the key of a row.
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

// submissionRow matches answers with columns. The platform's own values come last, so that no answer replaces them.
func submissionRow(columns map[string]column, l Lead) (names []string, values []any) {
	row := map[string]any{}
	for _, f := range l.Fields {
		if c, ok := columns[strings.ToLower(f.Name)]; ok {
			row[strings.ToLower(f.Name)] = c.value(f)
		}
	}
	row["form"], row["lead_id"], row["created_at"] = l.Form, l.ID, l.CreatedAt.Format(timeLayout)
	if strings.Contains(columns["created_at"].kind, "INT") {
		row["created_at"] = l.CreatedAt.UnixMilli()
	}
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

// value turns an answer into a value for the column. SQLite itself turns text into a number where the column asks for
// one, but does not know true and false.
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

// insertRow returns the statement. A table without a matching column still gets its row.
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

// Resubmit retries the row of one lead, unless it is written, and returns the outcome. db is the site's own database.
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

// retrier writes the rows of leads that could not be written when the lead came, on one goroutine at a time.
type retrier struct {
	store *Store
	site  *Site

	mu         sync.Mutex
	running    bool
	wanted     bool // another round
	failed     bool // that round includes rows that the table refused
	unfinished bool // a row is pending
}

// noteOutcome takes the outcome of a new lead's row. Once one is written, the pending ones may be too.
func (t *retrier) noteOutcome(status SubmissionStatus) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch status {
	case SubmissionPending:
		t.unfinished = true
	case SubmissionWritten:
		if t.unfinished {
			t.begin(false)
		}
	case SubmissionNone, SubmissionFailed:
	}
}

// begin has the goroutine run once more. The caller holds the lock.
func (t *retrier) begin(failed bool) {
	t.wanted, t.failed = true, t.failed || failed
	if t.running || t.site.options.SubmissionsDB == nil {
		return
	}
	t.running = true
	t.site.drains.Go(func() {
		ctx := t.site.work
		for failed, more := t.next(); more; failed, more = t.next() {
			left, err := t.store.retrySubmissions(ctx, t.site.options.SubmissionsDB, failed)
			if err != nil && ctx.Err() == nil {
				t.site.options.Logger.Error("submissions not retried", "error", err)
			}
			t.mu.Lock()
			t.unfinished = left || err != nil
			t.mu.Unlock()
		}
	})
}

func (t *retrier) next() (failed, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	failed, more = t.failed, t.wanted && t.site.work.Err() == nil
	t.running, t.wanted, t.failed = more, false, false
	return failed, more
}
