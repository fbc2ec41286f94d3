package migrate

import "context"

// Transaction is a run whose files are applied and not committed: other connections of a database
// with a write-ahead log read it as it was, and wait to write to it. One of Commit and Rollback is called, once.
type Transaction struct {
	run *run
	ctx context.Context // of Begin, without its end: neither Commit nor Rollback may be interrupted
}

// Begin is [Migrator.Apply] with [Options.Atomic], but for its commit: the caller commits together with something that is
// decided elsewhere. When Begin returns nil, the commit needs room on the disk for one page. No copy is kept in
// [Options.UndoDir].
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
