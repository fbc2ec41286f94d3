package site

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"strings"
	"time"
)

const selectLeads = `SELECT l.seq, l.id, l.form, l.fields, l.created_at, l.preview,
	l.submission_table, l.submission_status, l.submission_error,
  (SELECT json_group_array(e.name ORDER BY e.seq) FROM events e WHERE e.lead_id = l.id),
  s.marked_at, coalesce(s.score, 0), s.reasons, u.names, u.unseen
FROM leads l LEFT JOIN spam s ON s.lead_id = l.id LEFT JOIN unasked_answers u ON u.lead_id = l.id`

// Leads returns leads, newest first.
func (s *Store) Leads(ctx context.Context, f LeadFilter) ([]Lead, error) {
	return collectAll(s.eachLead(ctx, f))
}

// eachLead iterates over leads, newest first, with few in memory at a time. An error ends the iteration.
func (s *Store) eachLead(ctx context.Context, f LeadFilter) iter.Seq2[Lead, error] {
	return inChunks(f.Limit, math.MaxInt64, func(before int64, most int) ([]storedRow[Lead], error) {
		var where conditions
		where.equal("l.id", f.ID)
		where.equal("l.form", f.Form)
		where.add("l.seq < ?", before)
		if f.ID == "" {
			where.add("(s.lead_id IS NOT NULL) = ?", f.Spam)
		}
		rows, err := s.db.QueryContext(ctx, selectLeads+where.sql()+" ORDER BY l.seq DESC LIMIT ?", where.with(most)...)
		if err != nil {
			return nil, err
		}
		return readChunk(rows, scanLead)
	})
}

func (s *Store) lead(ctx context.Context, id string) (Lead, error) {
	l, err := scanLead(s.db.QueryRowContext(ctx, selectLeads+" WHERE l.id = ?", id))
	return l.row, err
}

const selectEvents = `SELECT e.seq, e.id, e.name, e.lead_id, e.created_at, l.form, l.fields,
  coalesce(d.status, ''), coalesce(d.attempts, 0), coalesce(d.at, 0), coalesce(d.next_at, 0), coalesce(d.error, '')
FROM events e JOIN leads l ON l.id = e.lead_id LEFT JOIN deliveries d ON d.seq = e.seq`

// Events returns events, newest first unless the filter says otherwise.
func (s *Store) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	return collectAll(s.eachEvent(ctx, f))
}

// eachEvent iterates over events as eachLead does over leads.
func (s *Store) eachEvent(ctx context.Context, f EventFilter) iter.Seq2[Event, error] {
	first, beyond, order := int64(math.MaxInt64), "e.seq < ?", " ORDER BY e.seq DESC LIMIT ?"
	if f.After > 0 || f.Oldest {
		first, beyond, order = f.After, "e.seq > ?", " ORDER BY e.seq LIMIT ?"
	}
	return inChunks(f.Limit, first, func(last int64, most int) ([]storedRow[Event], error) {
		var where conditions
		where.equal("e.id", f.ID)
		where.equal("e.lead_id", f.Lead)
		where.equal("e.name", f.Name)
		where.equal("d.status", string(f.Delivery))
		where.equal("l.form", f.Form)
		where.add(beyond, last)
		rows, err := s.db.QueryContext(ctx, selectEvents+where.sql()+order, where.with(most)...)
		if err != nil {
			return nil, err
		}
		return readChunk(rows, scanEvent)
	})
}

// storedRow is a row with its number and the number of bytes that its client sent.
type storedRow[T any] struct {
	row  T
	seq  int64
	size int
}

// inChunks iterates over the first most rows, or over all rows if most is 0 or less. read returns the next rows after a number, up to most,
// and none at the end. No transaction stays open meanwhile: rows may be long and their reader slow.
func inChunks[T any](most int, behind int64, read func(behind int64, most int) ([]storedRow[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left := most
		if left <= 0 {
			left = -1 // SQLite's word for no limit
		}
		for left != 0 {
			rows, err := read(behind, left)
			if err != nil {
				yield(*new(T), err)
				return
			}
			if len(rows) == 0 {
				return
			}
			for _, r := range rows {
				if !yield(r.row, nil) {
					return
				}
			}
			behind = rows[len(rows)-1].seq
			if left > 0 {
				left -= len(rows)
			}
		}
	}
}

// readChunk reads rows until they hold pieceBytes.
func readChunk[T any](rows *sql.Rows, scan func(scanner) (storedRow[T], error)) (all []storedRow[T], err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for held := 0; held < pieceBytes && rows.Next(); {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all, held = append(all, r), held+r.size+rowBytes
	}
	return all, rows.Err()
}

// Captured is a lead with its number and its events.
type Captured struct {
	Lead

	Number int64 // grows with every lead of the store, and with every lead that becomes spam or ham
	Raised []Event
}

// CapturedAfter returns the leads of a platform database after the one with a number, oldest first, at most limit, and no more after
// capturedBytes. It only reads the database; before a site has opened the database, it has no leads.
func CapturedAfter(ctx context.Context, db *sql.DB, after int64, most int) (all []Captured, err error) {
	var prepared, marks bool
	err = db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE name != 'spam') = 2, count(*) FILTER (WHERE name = 'spam') = 1
FROM sqlite_schema WHERE type = 'table' AND name IN ('leads', 'events', 'spam')`).Scan(&prepared, &marks)
	if err != nil || !prepared {
		return nil, err
	}
	const withSpam, withoutSpam = `s.marked_at, coalesce(s.score, 0), s.reasons FROM leads l LEFT JOIN spam s ON s.lead_id = l.id`,
		`NULL, 0, '' FROM leads l` // of an earlier version, and not opened since
	from := withoutSpam
	if marks {
		from = withSpam
	}
	rows, err := db.QueryContext(ctx, `SELECT l.seq, l.id, l.form, l.fields, l.created_at, l.preview,
  (SELECT json_group_array(json_object('id', e.id, 'name', e.name) ORDER BY e.seq) FROM events e WHERE e.lead_id = l.id),
  `+from+` WHERE l.seq > ? ORDER BY l.seq LIMIT ?`, after, most)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for held := 0; held < capturedBytes && rows.Next(); {
		var c Captured
		var fields, raised string
		var created int64
		var mark spamColumns
		err := rows.Scan(
			&c.Number, &c.ID, &c.Form, &fields, &created, &c.Preview, &raised, &mark.at, &mark.score, &mark.reasons,
		)
		if err != nil {
			return nil, err
		}
		c.CreatedAt = Stamp{time.UnixMilli(created).UTC()}
		c.Spam, err = mark.spam()
		err = errors.Join(err, json.Unmarshal([]byte(fields), &c.Fields), json.Unmarshal([]byte(raised), &c.Raised))
		if err != nil {
			return nil, err
		}
		all, held = append(all, c), held+len(fields)
	}
	return all, rows.Err()
}

// counts returns the number of leads without spam, of spam, and of events.
func (s *Store) counts(ctx context.Context) (leads, spam, events int, err error) {
	const query = `SELECT (SELECT count(*) FROM leads), (SELECT count(*) FROM spam), (SELECT count(*) FROM events)`
	err = s.db.QueryRowContext(ctx, query).Scan(&leads, &spam, &events)
	return leads - spam, spam, events, err
}

type scanner interface{ Scan(into ...any) error }

func scanLead(row scanner) (storedRow[Lead], error) {
	var l Lead
	var seq, created int64
	var fields, events string
	var mark spamColumns
	var unasked sql.NullString
	var unseen sql.NullBool
	err := row.Scan(
		&seq, &l.ID, &l.Form, &fields, &created, &l.Preview, &l.Submission.Table, &l.Submission.Status,
		&l.Submission.Error, &events, &mark.at, &mark.score, &mark.reasons, &unasked, &unseen,
	)
	if err != nil {
		return storedRow[Lead]{}, err
	}
	l.CreatedAt, l.unseen = Stamp{time.UnixMilli(created).UTC()}, unseen.Bool
	l.Spam, err = mark.spam()
	err = errors.Join(err, json.Unmarshal([]byte(fields), &l.Fields), json.Unmarshal([]byte(events), &l.Events))
	if unasked.Valid {
		err = errors.Join(err, json.Unmarshal([]byte(unasked.String), &l.Unasked))
	}
	return storedRow[Lead]{l, seq, len(fields)}, err
}

func scanEvent(row scanner) (storedRow[Event], error) {
	var e Event
	var d Delivery
	var fields string
	var created, at, next int64
	err := row.Scan(&e.Sequence, &e.ID, &e.Name, &e.LeadID, &created, &e.Form, &fields, &d.Status, &d.Attempts, &at, &next, &d.Error)
	if err != nil {
		return storedRow[Event]{}, err
	}
	e.CreatedAt = Stamp{time.UnixMilli(created).UTC()}
	if d.Status != "" {
		d.At = momentOf(at)
		if d.Status == DeliveryPending {
			d.Next = momentOf(next)
		}
		e.Delivery = &d
	}
	return storedRow[Event]{e, e.Sequence, len(fields)}, json.Unmarshal([]byte(fields), &e.Fields)
}

// momentOf converts a time of the database, nil for 0.
func momentOf(millis int64) *Stamp {
	if millis == 0 {
		return nil
	}
	return &Stamp{time.UnixMilli(millis).UTC()}
}

// collect reads all rows; the result is never nil, so that it is [] in JSON.
func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) (all []T, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	all = []T{}
	for rows.Next() {
		each, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, each)
	}
	return all, rows.Err()
}

// collectAll reads all of an iterator; the result is never nil either.
func collectAll[T any](each iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for row, err := range each {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// conditions builds a WHERE clause.
type conditions struct {
	terms []string
	args  []any
}

// equal adds a condition unless the value is empty.
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+" = ?", value)
	}
}

func (c *conditions) add(term string, arg any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, arg)
}

func (c *conditions) sql() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

func (c *conditions) with(last any) []any { return append(c.args, last) }
