package migrate

import (
	"context"
	"errors"
)

// This file lets the caller of Apply judge the losses of a run on exactly the rows that the run changes.

// errWrittenSince means that another connection has written since the judged plan.
var errWrittenSince = errors.New("the database was written to after it was checked")

// judged applies the pending files of a run once [Options.Judge] agrees to their plan. Other connections may write during
// the copy and the trial; if they did, the plan is made again with other writers locked out. A second connection of the
// database reads the copy.
func (m *Migrator) judged(ctx context.Context, r *run) error {
	judge := func() error {
		plan, err := m.Plan(ctx)
		if err == nil {
			err = m.o.Judge(plan)
		}
		return err
	}
	seen := r.seen
	if err := judge(); err != nil {
		return err
	}
	_, err := r.transaction(ctx, func(ctx context.Context, c connection) (bool, error) {
		if err := r.readLedger(ctx); err != nil {
			return false, err
		}
		if r.seen != seen {
			return false, errWrittenSince
		}
		return r.together(ctx, c)
	})
	if !errors.Is(err, errWrittenSince) {
		return err
	}
	r.result.Failed, r.result.TakenBack, r.result.Remaining = "", nil, nil
	_, err = r.transaction(ctx, func(ctx context.Context, c connection) (bool, error) {
		if err := judge(); err != nil {
			return false, err
		}
		return r.together(ctx, c)
	})
	return err
}
