package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// This file sends members mails on leads. A mail is queued in the transaction that takes the lead, and leaves the queue
// after it was sent: a crash in between sends it again, with the same Message-ID, so that mail programs recognize it.

// LeadMail is a mail on a lead.
type LeadMail struct {
	To        string
	Site      string // the name of the page
	Hostname  string // of the page
	LeadID    string
	Form      string
	Fields    json.RawMessage // a JSON object
	CreatedAt time.Time
	QueuedAt  time.Time // when the lead was taken, or marked as ham
}

// PermanentMailError is the error of a mail that will never be accepted.
type PermanentMailError struct{ Reason error }

func (e *PermanentMailError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *PermanentMailError) Unwrap() error { return e.Reason }

const (
	// leadMailsAnHour bounds the mails to one member on the leads of one site. Later leads only appear in the inbox.
	leadMailsAnHour = 60
	leadMailTries   = 12
	leadMailPause   = 30 * time.Second // doubled after each failure
	leadMailMost    = 2 * time.Hour
	keptLeadMails   = 30 * 24 * time.Hour
	leadMailBatch   = 20
	// leadMailTime bounds one attempt.
	leadMailTime = time.Minute
)

// leadMails wakes their sender.
type leadMails struct{ wake chan struct{} }

func (m leadMails) notify() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// queueLeadMails queues the mails on a lead that raised events, so neither a preview's nor spam. It queues each mail once, even
// if the lead was marked as spam in between.
func (t tx) queueLeadMails(site string, l Captured, recipients []string, now time.Time) error {
	if l.Spam != nil || l.Preview {
		return nil
	}
	for _, to := range recipients {
		err := t.exec(`INSERT INTO lead_mails (lead_id, site_id, recipient, queued_at, next_at)
			SELECT ?1, ?2, ?3, ?4, ?4 WHERE
				(SELECT count(*) FROM lead_mails WHERE site_id = ?2 AND recipient = ?3 AND queued_at > ?5) < ?6 ON CONFLICT DO NOTHING`,
			l.ID, site, to, now.UnixMilli(), now.Add(-time.Hour).UnixMilli(), leadMailsAnHour)
		if err != nil {
			return err
		}
	}
	return nil
}

// runLeadMails sends due mails until ctx ends.
func (s *Service) runLeadMails(ctx context.Context) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for ctx.Err() == nil {
		if err := s.sendDueLeadMails(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("mails on leads were not sent; the service will try again", "error", err.Error())
		}
		select {
		case <-ctx.Done():
		case <-s.leadMails.wake:
		case <-poll.C:
		}
	}
}

// dueLeadMail is a mail in the queue.
type dueLeadMail struct {
	LeadMail
	id       int64
	attempts int
	wanted   bool // the recipient is a member, and the lead is not spam
}

func (s *Service) sendDueLeadMails(ctx context.Context) error {
	for {
		due, err := readTx(ctx, s.db, func(t tx) ([]dueLeadMail, error) {
			return list(t, func(rows *sql.Rows, m *dueLeadMail) error {
				var fields []byte
				var created, queued int64
				err := rows.Scan(&m.id, &m.attempts, &m.To, &m.Site, &m.Hostname, &m.LeadID, &m.Form, &fields, &created, &queued, &m.wanted)
				m.Fields, m.CreatedAt, m.QueuedAt = fields, time.UnixMilli(created).UTC(), time.UnixMilli(queued).UTC()
				return err
			}, `SELECT q.id, q.attempts, q.recipient, s.name, coalesce(d.hostname, ''), l.id, l.form, l.fields, l.created_at,
				q.queued_at,
				l.spam IS NULL AND EXISTS (SELECT 1 FROM holders h JOIN memberships m ON m.holder_id = h.id
					WHERE m.workspace_id = l.workspace_id AND h.email = q.recipient COLLATE NOCASE AND NOT h.service)
				FROM lead_mails q JOIN leads l ON l.id = q.lead_id JOIN sites s ON s.id = q.site_id
				LEFT JOIN domains d ON d.site_id = s.id AND d.provided
				WHERE q.next_at <= ? ORDER BY q.next_at, q.id LIMIT ?`, s.now().UnixMilli(), leadMailBatch)
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, m := range due {
			if err := s.sendOneLeadMail(ctx, m); err != nil {
				return err
			}
		}
	}
}

// sendOneLeadMail makes one attempt, and stores the outcome. An attempt that the service's shutdown interrupts does not count.
func (s *Service) sendOneLeadMail(ctx context.Context, m dueLeadMail) error {
	if !m.wanted {
		return s.db.write(ctx, func(t tx) error { return t.exec("DELETE FROM lead_mails WHERE id = ?", m.id) })
	}
	trying, cancel := context.WithTimeout(ctx, leadMailTime)
	defer cancel()
	failed := s.sendLeadMail(trying, m.LeadMail)
	if failed != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	now, attempts := s.now(), m.attempts+1
	var next, sent sql.NullInt64
	reason := ""
	if failed == nil {
		sent = sql.NullInt64{Int64: now.UnixMilli(), Valid: true}
	} else {
		reason = failed.Error()
		_, permanent := errors.AsType[*PermanentMailError](failed)
		if !permanent && attempts < leadMailTries {
			wait := min(leadMailPause<<min(attempts-1, 10), leadMailMost)
			next = sql.NullInt64{Int64: now.Add(wait).UnixMilli(), Valid: true}
		}
		s.log.Warn("a mail on a lead was not sent", "lead", m.LeadID, "again", next.Valid, "error", reason)
	}
	return s.db.write(context.WithoutCancel(ctx), func(t tx) error {
		const note = "UPDATE lead_mails SET attempts = ?, next_at = ?, sent_at = ?, error = ? WHERE id = ?"
		return t.exec(note, attempts, next, sent, reason, m.id)
	})
}
