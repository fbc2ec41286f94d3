package migrate

import "context"

// Transaction is a run whose files are applied but not committed. With a write-ahead log, other connections read
// the old contents, and wait to write. Call either Commit or Rollback, once.
type Transaction struct {
	run *run
	ctx context.Context // of Begin, without its end: neither Commit nor Rollback may be interrupted
}

// Begin is [Migrator.Apply] with [Options.Atomic] without its commit, which the caller makes together with another
// decision. When Begin returns nil, the commit needs room on the disk for one page. No copy is kept in [Options.UndoDir].
func (m *Migrator) Begin(ctx context.Context) (*Transaction, error) {
	set, err := m.read()
	if err != nil {
		return nil, err
	}
	r, err := m.newRun(ctx, m.db, set)
	if err != nil {
		return nil, err
	}
	r.o.Atomic, r.uncommitted = true, true
	if err = r.readLedger(ctx); err == nil {
		err = m.apply(ctx, r)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return &Transaction{r, context.WithoutCancel(ctx)}, nil
}

// Commit makes the files and their ledger rows durable. An error leaves the database as it was.
func (t *Transaction) Commit() error {
	defer t.run.close()
	if !t.run.open {
		return nil
	}
	return t.run.commit(t.ctx)
}

// Rollback leaves the database as it was.
func (t *Transaction) Rollback() {
	defer t.run.close()
	if t.run.open {
		t.run.rollback(t.ctx)
	}
}
