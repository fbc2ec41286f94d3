package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// post is a form post that was read and found good.
type post struct {
	form    string
	fields  Fields
	token   string // the visitor's idempotency key, "" for none
	preview bool
	events  []string // to raise, in order
	deliver bool     // the events are for the webhook
	table   string   // of the submissions, "" for none
	uploads []*upload
}

// errTokenReused says that an idempotency key came back with another post.
var errTokenReused = errors.New("idempotency key reused")

// errLeadsFull says that the database of leads is as large as it may be.
var errLeadsFull = errors.New("the database of leads is as large as it may be: no form is taken any more")

// capture stores a lead, which files are its, and its events in one transaction. When it
// returns, all are durable. A post with the key of an earlier one gives the earlier lead
// and no events: nothing happens twice.
func (s *Store) capture(ctx context.Context, p post) (lead Lead, events []Event, again bool, err error) {
	fields, err := marshal(p.fields)
	if err != nil {
		return lead, nil, false, err
	}
	lead = Lead{
		ID: newID("lead_"), Form: p.form, Fields: p.fields, CreatedAt: Stamp{s.now().UTC().Truncate(time.Millisecond)},
		Preview: p.preview, Submission: Submission{Table: p.table, Status: SubmissionPending}, Events: p.events,
	}
	if p.table == "" {
		lead.Submission.Status = SubmissionNone
	}
	digest := sha256.Sum256(fields)
	s.writing.Lock()
	defer s.writing.Unlock()
	err = transact(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		earlier, err := earlierLead(ctx, tx, p, digest[:])
		if err != nil {
			return err
		}
		if again = earlier != ""; again {
			lead.ID = earlier
			return nil
		}
		if err := s.hasRoom(ctx, tx); err != nil {
			return err
		}
		if err := insertLead(ctx, tx, lead, fields, p.token, digest[:]); err != nil {
			return err
		}
		if err := insertFiles(ctx, tx, lead.ID, p.uploads); err != nil {
			return err
		}
		events, err = insertEvents(ctx, tx, lead, p.deliver)
		return err
	})
	if err == nil && again {
		lead, err = s.lead(ctx, lead.ID)
	}
	return lead, events, again, err
}

// hasRoom refuses what would be stored beyond the bound, by the pages that are in use.
func (s *Store) hasRoom(ctx context.Context, tx *sql.Tx) error {
	const used = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
	var bytes int64
	if err := tx.QueryRowContext(ctx, used).Scan(&bytes); err != nil {
		return err
	}
	if bytes >= s.most {
		return errLeadsFull
	}
	return nil
}

// earlierLead returns the id of the lead that the same post made before, "" for none.
func earlierLead(ctx context.Context, tx *sql.Tx, p post, digest []byte) (string, error) {
	if p.token == "" {
		return "", nil
	}
	var id string
	var before []byte
	err := tx.QueryRowContext(ctx, `SELECT id, digest FROM leads WHERE form = ? AND token = ?`, p.form, p.token).Scan(&id, &before)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case !bytes.Equal(before, digest):
		return "", errTokenReused
	}
	return id, nil
}

func insertLead(ctx context.Context, tx *sql.Tx, l Lead, fields []byte, token string, digest []byte) error {
	const put = `INSERT INTO leads (id, form, fields, created_at, preview, token, digest, submission_table, submission_status)
VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?)`
	_, err := tx.ExecContext(ctx, put, l.ID, l.Form, string(fields), l.CreatedAt.UnixMilli(), l.Preview, token, digest,
		l.Submission.Table, string(l.Submission.Status))
	return err
}

func insertEvents(ctx context.Context, tx *sql.Tx, l Lead, deliver bool) ([]Event, error) {
	var events []Event
	for _, name := range l.Events {
		e := Event{ID: newID("evt_"), Name: name, LeadID: l.ID, Form: l.Form, Fields: l.Fields, CreatedAt: l.CreatedAt}
		const put = `INSERT INTO events (id, name, lead_id, created_at) VALUES (?, ?, ?, ?)`
		result, err := tx.ExecContext(ctx, put, e.ID, e.Name, e.LeadID, e.CreatedAt.UnixMilli())
		if err != nil {
			return nil, err
		}
		if e.Sequence, err = result.LastInsertId(); err != nil {
			return nil, err
		}
		if deliver {
			const queue = `INSERT INTO deliveries (seq, form, status, next_at) VALUES (?, ?, ?, ?)`
			if _, err := tx.ExecContext(ctx, queue, e.Sequence, e.Form, string(DeliveryPending), e.CreatedAt.UnixMilli()); err != nil {
				return nil, err
			}
			due := e.CreatedAt
			e.Delivery = &Delivery{Status: DeliveryPending, Next: &due}
		}
		events = append(events, e)
	}
	return events, nil
}

// newID makes an id that nobody can guess: 130 random bits.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }
