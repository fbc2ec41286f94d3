package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// OnScratch applies all files to a private empty database, as [Migrator.Rehearse] does, and calls use with it. The
// database is gone when OnScratch returns.
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
	if _, err := m.replay(ctx, db, set, nil); err != nil {
		return err
	}
	return use(ctx, db)
}

// EachState applies the files to a private empty database one by one, and calls use after each with its name, until use
// returns false.
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
	for i, f := range set.files {
		first := set
		first.files = set.files[:i+1]
		if _, err := m.replay(ctx, db, first, nil); err != nil {
			return err
		}
		if more, err := use(ctx, f.Name, db); err != nil || !more {
			return err
		}
	}
	return nil
}

// maxScratchPages bounds a database that files alone make, in pages: 256 MiB.
const maxScratchPages = 1 << 16

func boundedScratch(ctx context.Context) (*sql.DB, error) {
	db, err := scratch()
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", maxScratchPages)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// with returns the set with files behind its own.
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
