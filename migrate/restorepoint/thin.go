package restorepoint

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
)

// This file selects the points to keep. Interval points are many, and lose value with age; people look for the
// points from before a publish or a restore.

const (
	keepAll    = time.Hour           // all points of an interval
	keepHourly = 24 * time.Hour      // the newest of each hour
	keepDaily  = 30 * 24 * time.Hour // the newest of each day

	maxInterval = 70 // points of an interval, also after changes of the clock
	maxNamed    = 40 // points before a publish or a restore, in the last 30 days
	minNamed    = 10 // of these stay at any age

	// A store may have growth times the size of the database, and at least leastBytes.
	leastBytes = 256 << 20
	growth     = 3
)

// Rule says in words which points stay.
const Rule = "all of the last hour, one for each hour of the last day, one for each day of the last 30 days, " +
	"and the last 40 from before a publish or a restore"

// Limits returns the bounds for a database with so many bytes.
func (s Store) Limits(database int64) Limits {
	return Limits{Points: maxInterval + maxNamed, Bytes: max(cmp.Or(s.Least, leastBytes), growth*database)}
}

// superfluous returns the points to remove. The list begins with the newest one, which stays.
func superfluous(all []Point, now time.Time) (gone []Point) {
	named, interval := 0, 0
	taken := map[time.Time]bool{} // hours and days that have a point
	for i, p := range all {
		age := now.Sub(p.At)
		stays := false
		switch {
		case p.Reason != ReasonInterval:
			named++
			stays = named <= minNamed || named <= maxNamed && age <= keepDaily
		case interval == maxInterval:
		case age <= keepAll:
			stays = true
		case age <= keepHourly:
			hour := p.At.Truncate(time.Hour)
			stays, taken[hour] = !taken[hour], true
		case age <= keepDaily:
			day := p.At.Truncate(24 * time.Hour).Add(time.Nanosecond) // no hour
			stays, taken[day] = !taken[day], true
		}
		if stays && p.Reason == ReasonInterval {
			interval++
		}
		if !stays && i > 0 {
			gone = append(gone, p)
		}
	}
	return gone
}

// thin removes points until the rule and the limits are met. all begins with the newest one.
func (s Store) thin(ctx context.Context, conn *sql.Conn, all []Point, now time.Time) error {
	gone := superfluous(all, now)
	for _, p := range gone {
		if err := remove(ctx, conn, p); err != nil {
			return err
		}
	}
	left := slices.DeleteFunc(slices.Clone(all), func(p Point) bool {
		return slices.ContainsFunc(gone, func(g Point) bool { return g.number == p.number })
	})
	most := s.Limits(all[0].Bytes).Bytes
	// Adopted copies go first, then points of an interval, the oldest first.
	order := slices.Clone(left[1:])
	slices.SortStableFunc(order, func(a, b Point) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.number, b.number))
	})
	for _, p := range order {
		used, err := usedBytes(ctx, conn)
		if err != nil || used <= most {
			return err
		}
		if err := remove(ctx, conn, p); err != nil {
			return err
		}
	}
	return nil
}

func rank(p Point) int {
	switch p.Reason {
	case ReasonCopy:
		return 0
	case ReasonInterval:
		return 1
	case ReasonPublish, ReasonRestore:
	}
	return 2
}

// usedBytes is the size of the file without its free pages.
func usedBytes(ctx context.Context, conn *sql.Conn) (n int64, err error) {
	var pages, free, size int64
	err = errors.Join(
		conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size),
		conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages),
		conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free),
	)
	return (pages - free) * size, err
}

// remove removes a point and the pages that no other point uses.
func remove(ctx context.Context, conn *sql.Conn, p Point) error {
	var groups []byte
	if err := conn.QueryRowContext(ctx, "DELETE FROM points WHERE number = ? RETURNING groups", p.number).Scan(&groups); err != nil {
		return err
	}
	for ; len(groups) >= hashSize; groups = groups[hashSize:] {
		var refs int64
		var pages []byte
		err := conn.QueryRowContext(ctx, "UPDATE page_groups SET refs = refs - 1 WHERE hash = ? RETURNING refs, pages",
			groups[:hashSize]).Scan(&refs, &pages)
		if err != nil {
			return err
		}
		if refs > 0 {
			continue
		}
		if _, err := conn.ExecContext(ctx, "DELETE FROM page_groups WHERE hash = ?", groups[:hashSize]); err != nil {
			return err
		}
		if err := removePages(ctx, conn, pages); err != nil {
			return err
		}
	}
	return nil
}

// removePages releases a group's pages.
func removePages(ctx context.Context, conn *sql.Conn, hashes []byte) error {
	for ; len(hashes) >= hashSize; hashes = hashes[hashSize:] {
		var refs, id int64
		err := conn.QueryRowContext(ctx, "UPDATE pages SET refs = refs - 1 WHERE hash = ? RETURNING refs, id",
			hashes[:hashSize]).Scan(&refs, &id)
		if err != nil {
			return err
		}
		if refs > 0 {
			continue
		}
		_, err = conn.ExecContext(ctx, "DELETE FROM pages WHERE hash = ?", hashes[:hashSize])
		if err == nil {
			_, err = conn.ExecContext(ctx, "DELETE FROM contents WHERE id = ?", id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrink gives free pages of the file back to the disk. It steps the statement to its end, which does the work.
func shrink(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "PRAGMA incremental_vacuum")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { // each step frees pages
	}
	return rows.Err()
}
