package site

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver/altcha"
	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/spam"
)

// This file keeps spam apart from leads: the mark on a lead, and a person's decision about it.

// Spam has the reasons why a lead is spam.
type Spam struct {
	Score   int           `json:"score"`
	Reasons []spam.Reason `json:"reasons"` // never empty
	At      Stamp         `json:"at"`      // when it was marked
}

// String returns the score and the reasons, as one line.
func (s *Spam) String() string {
	var all []string
	for _, r := range s.Reasons {
		all = append(all, r.Message)
	}
	return fmt.Sprintf("score %d: %s", s.Score, strings.Join(all, "; "))
}

var (
	// ErrNoLead means that no lead has an id.
	ErrNoLead = errors.New("there is no such lead")
	// ErrMarked means that the lead has this mark already.
	ErrMarked = errors.New("the lead is marked so already")
)

// SetProofOfWork turns the demand for a proof of work on or off. With it, a script's post without a proof is refused; the post of a page,
// which may come from a browser without JavaScript, is stored with one sign of spam.
func (s *Site) SetProofOfWork(on bool) { s.proofs.Store(on) }

// SetSpamFilter turns the filter on or off for later posts. Spam that is kept apart stays there.
func (s *Site) SetSpamFilter(on bool) { s.spamOff.Store(!on) }

// MarkLead marks a lead as spam or as ham, as [Store.MarkSpam] and [Store.MarkHam] do, and delivers the events and writes the row of ham.
func (s *Site) MarkLead(ctx context.Context, id string, spam bool) error {
	if spam {
		return s.store.MarkSpam(ctx, id)
	}
	raised, err := s.store.MarkHam(ctx, id)
	if err != nil {
		return err
	}
	s.raise(raised)
	s.retrier.mu.Lock()
	defer s.retrier.mu.Unlock()
	s.retrier.begin(false)
	return nil
}

var (
	errNoProof = refuse(http.StatusUnprocessableEntity, "proof_required",
		"a script needs a proof of work to send a form to this site, and the post has no valid one").fix(proofFix)
	errBadProof = refuse(http.StatusUnprocessableEntity, "proof_required",
		"the proof of work of the post does not come from this site, or was used before").fix(proofFix)
)

const proofFix = "solve a new challenge of " + reservedPrefix + "/forms/" + challengeFile + " and send it in the field \"" + fieldProof +
	"\", as the widget of the npm package altcha does"

// verifyProof verifies the proof of work of a post. If the site asks for one, it refuses a script without one.
func (x *exchange) verifyProof(f *formReader, p post) (altcha.State, error) {
	repeatable := ""
	if p.token != "" {
		repeatable = p.form + " " + p.token
	}
	proof := x.site.challenges.Verify(f.control[fieldProof], repeatable, x.site.options.Now())
	if !x.site.proofs.Load() || sendsForm(x.r) {
		return proof, nil
	}
	switch proof {
	case altcha.Absent:
		return proof, errNoProof
	case altcha.Forged:
		return proof, errBadProof
	case altcha.Solved:
	}
	return proof, nil
}

// judgeSpam scores a post.
func (x *exchange) judgeSpam(f *formReader, p post, proof altcha.State) spam.Verdict {
	if x.site.spamOff.Load() {
		return spam.Verdict{}
	}
	now := x.site.options.Now()
	given := spam.Post{Stamp: spam.ReadStamp(x.site.stampKey, f.control[fieldStamp], now)}
	given.Proven, given.BadProof = proof == altcha.Solved, proof == altcha.Forged
	given.NoProof = proof == altcha.Absent && x.site.proofs.Load()
	for _, name := range spam.Honeypots() {
		if strings.TrimSpace(f.control[name]) != "" {
			given.Honeypot = cmp.Or(given.Honeypot, name)
		}
	}
	for _, each := range p.fields {
		given.Answers = append(given.Answers, spam.Answer{Name: each.Name, Text: each.text()})
	}
	given.Recent, given.Repeats = x.site.history.Note(now, loopback.ClientAddress(x.r), p.form, given.Answers)
	return spam.Score(given)
}

// shownLead returns a lead for its sender. A sender of spam does not learn of it, except on the author's machine.
func (x *exchange) shownLead(l Lead, p post) Lead {
	if l.Spam == nil || x.showsHints() {
		return l
	}
	l.Spam, l.Events = nil, p.events
	if l.Submission.Status == SubmissionWithheld {
		l.Submission.Status = SubmissionPending
	}
	return l
}

//go:embed stamp.js
var stampSource string

// serveStamp sends the script that times a page.
func (x *exchange) serveStamp() {
	x.out.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	if x.r.Method == http.MethodHead {
		x.out.begin()
		return
	}
	x.out.write([]byte(strings.ReplaceAll(stampSource, "%STAMP%", spam.Stamp(x.site.stampKey, x.site.options.Now()))))
}

// insertSpam marks a lead as spam, and stores which events it did not raise.
func insertSpam(ctx context.Context, tx *sql.Tx, l Lead, withheld []string, deliver bool) error {
	reasons, err := marshal(l.Spam.Reasons)
	if err != nil {
		return err
	}
	names, err := marshal(listOf(withheld))
	if err != nil {
		return err
	}
	const put = `INSERT INTO spam (lead_id, marked_at, score, reasons, withheld, deliver) VALUES (?, ?, ?, ?, ?, ?)`
	_, err = tx.ExecContext(ctx, put, l.ID, l.Spam.At.UnixMilli(), l.Spam.Score, string(reasons), string(names), deliver)
	return err
}

// spamColumns are the columns of a mark; at is NULL for ham.
type spamColumns struct {
	at      sql.NullInt64
	score   int
	reasons sql.NullString
}

func (c spamColumns) spam() (*Spam, error) {
	if !c.at.Valid {
		return nil, nil //nolint:nilnil // ham is no error
	}
	s := &Spam{Score: c.score, At: Stamp{time.UnixMilli(c.at.Int64).UTC()}}
	return s, json.Unmarshal([]byte(c.reasons.String), &s.Reasons)
}

// moveLast gives a lead the next number, so that readers from a number on find it again ([CapturedAfter]).
const moveLast = `UPDATE leads SET seq = (SELECT max(seq) + 1 FROM leads) WHERE id = ?`

// MarkSpam keeps a lead apart. Its events stay raised; events that wait for the webhook are delivered only after the lead becomes ham, and
// so is a row written that was not written before. The error may be ErrNoLead or ErrMarked.
func (s *Store) MarkSpam(ctx context.Context, id string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return transact(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		found, err := scanLead(tx.QueryRowContext(ctx, selectLeads+" WHERE l.id = ?", id))
		l := found.row
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNoLead
		case err != nil:
			return err
		case l.Spam != nil:
			return ErrMarked
		}
		held, err := tx.ExecContext(ctx, `DELETE FROM deliveries
WHERE status = 'pending' AND seq IN (SELECT seq FROM events WHERE lead_id = ?)`, id)
		if err != nil {
			return err
		}
		n, err := held.RowsAffected()
		if err != nil {
			return err
		}
		l.Spam = &Spam{Score: spam.Threshold, At: Stamp{s.now().UTC().Truncate(time.Millisecond)}, Reasons: []spam.Reason{
			{Code: spam.CodePerson, Points: spam.Threshold, Message: "a person marked it"},
		}}
		if err := insertSpam(ctx, tx, l, nil, n > 0); err != nil {
			return err
		}
		const withhold = `UPDATE leads SET submission_status = 'withheld', submission_error = ''
WHERE id = ? AND submission_status IN ('pending', 'failed')`
		if _, err := tx.ExecContext(ctx, withhold, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, moveLast, id)
		return err
	})
}

// MarkHam makes a lead from spam: it raises the withheld events, once, and its row becomes pending. It returns the events that it raised.
// The error may be ErrNoLead or ErrMarked.
func (s *Store) MarkHam(ctx context.Context, id string) (raised []Event, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	now := Stamp{s.now().UTC().Truncate(time.Millisecond)}
	err = transact(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		found, err := scanLead(tx.QueryRowContext(ctx, selectLeads+" WHERE l.id = ?", id))
		l := found.row
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNoLead
		case err != nil:
			return err
		case l.Spam == nil:
			return ErrMarked
		}
		var names string
		var deliver bool
		const take = `DELETE FROM spam WHERE lead_id = ? RETURNING withheld, deliver`
		if err := tx.QueryRowContext(ctx, take, id).Scan(&names, &deliver); err != nil {
			return err
		}
		raisedBefore := l.Events
		if err := json.Unmarshal([]byte(names), &l.Events); err != nil {
			return err
		}
		l.Events = slices.DeleteFunc(l.Events, func(name string) bool { return slices.Contains(raisedBefore, name) })
		if deliver { // those that waited when a person marked the lead
			const queue = `INSERT INTO deliveries (seq, form, status, next_at)
SELECT seq, ?, 'pending', ? FROM events WHERE lead_id = ? ON CONFLICT DO NOTHING`
			if _, err := tx.ExecContext(ctx, queue, l.Form, now.UnixMilli(), id); err != nil {
				return err
			}
		}
		if raised, err = insertEvents(ctx, tx, l, now, deliver); err != nil {
			return err
		}
		const pend = `UPDATE leads SET submission_status = 'pending' WHERE id = ? AND submission_status = 'withheld'`
		if _, err := tx.ExecContext(ctx, pend, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, moveLast, id)
		return err
	})
	return raised, err
}
