package migrate

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// OnScratch applies all files to a private empty database, within bounds of time, memory and disk, and calls use with it.
// The database is removed when OnScratch returns.
func (m *Migrator) OnScratch(ctx context.Context, use func(ctx context.Context, db *sql.DB) error) (err error) {
	set, err := m.read()
	if err != nil {
		return err
	}
	db, err := boundedScratch(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	left := scratchTime
	if err := m.boundedReplay(ctx, db, set, &left); err != nil {
		return err
	}
	return use(ctx, db)
}

// EachState applies the files to a private empty database one by one, within the same bounds, and calls use after each with
// its name, until use returns false.
func (m *Migrator) EachState(ctx context.Context, use func(ctx context.Context, name string, db *sql.DB) (bool, error)) (err error) {
	set, err := m.read()
	if err != nil {
		return err
	}
	db, err := boundedScratch(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	left := scratchTime
	for i, f := range set.files {
		first := set
		first.files = set.files[:i+1]
		if err := m.boundedReplay(ctx, db, first, &left); err != nil {
			return err
		}
		if more, err := use(ctx, f.Name, db); err != nil || !more {
			return err
		}
	}
	return nil
}

// with returns the set with files after its own.
func (s fileSet) with(more []File) fileSet {
	if len(more) == 0 {
		return s
	}
	sums := maps.Clone(s.sums)
	if sums == nil {
		sums = map[string]string{}
	}
	s.files = slices.Concat(s.files, more)
	for _, f := range more {
		sums[f.Name] = f.Sum()
	}
	s.sums = sums
	return s
}
