package site

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/devserver/formrow"
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

// retrySubmissions writes the rows that are missing after a crash or a busy database and, with failed, retries the rows that the table
// refused. It stops early if the database is still busy.
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

// platformPrefixes are the beginnings of table names that neither forms nor Workers may write, such as the ledgers of leads and of
// migrations.
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
		if err := formrow.Write(ctx, tx, l.Submission.Table, l.row()); err != nil {
			return err
		}
		// A trigger of the site may have rolled back and continued.
		var kept int
		return tx.QueryRowContext(ctx, `SELECT 1 FROM _pages_submissions WHERE lead_id = ?`, l.ID).Scan(&kept)
	})
}

// row is the lead as the post of its form.
func (l Lead) row() formrow.Post {
	p := formrow.Post{Lead: l.ID, Form: l.Form, At: l.CreatedAt.Time, Unasked: l.Unasked, Unseen: l.unseen}
	for _, f := range l.Fields {
		p.Answers = append(p.Answers, formrow.Answer{Name: f.Name, Value: f.Value})
	}
	if all, err := marshal(l.Fields); err == nil {
		p.All = string(all)
	}
	return p
}

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

// retrier writes the rows of leads that could not be written at first, on one goroutine at a time.
type retrier struct {
	store *Store
	site  *Site

	mu         sync.Mutex
	running    bool
	wanted     bool // another round
	failed     bool // that round includes rows that the table refused
	unfinished bool // a row is pending
}

// noteOutcome records the outcome of a new lead's row. After one is written, the pending ones may succeed, too.
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
	case SubmissionNone, SubmissionFailed, SubmissionWithheld:
	}
}

// begin makes the goroutine run once more. The caller holds the lock.
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
