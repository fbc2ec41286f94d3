package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Repair is what an author states about the database. Each names files.
type Repair struct {
	// Accept are edited files: the database is as their present text says.
	Accept []string
	// Forget are applied files whose effects are gone, or which another file stands for: their rows are removed.
	Forget []string
	// Record are new files whose effects are there already: they are recorded and do not run.
	Record []string
}

// Repair writes to the ledger what the author states, all of it or nothing, and touches nothing else. A statement that
// does not fit what is there is refused, and nothing is ever guessed. The Status is that of afterwards.
func (m *Migrator) Repair(ctx context.Context, stated Repair) (Status, error) {
	set, err := m.read()
	if err != nil {
		return Status{}, err
	}
	r, err := m.newRun(ctx, m.db, set)
	if err != nil {
		return Status{}, err
	}
	defer r.close()
	_, err = r.transaction(ctx, func(ctx context.Context, _ connection) (bool, error) {
		if err := prepareLedger(ctx, r.conn); err != nil {
			return false, databaseError("the migrations ledger cannot be written", err)
		}
		return true, r.repair(ctx, stated)
	})
	if err != nil {
		return Status{}, err
	}
	return m.Status(ctx)
}

func (r *run) repair(ctx context.Context, stated Repair) error {
	ledger, err := readLedger(ctx, r.conn)
	if err != nil {
		return databaseError("the migrations ledger cannot be read", err)
	}
	status := r.set.compare(ledger, r.o)
	if err := r.set.fits(stated, status); err != nil {
		return err
	}
	for _, name := range slices.Concat(stated.Forget, stated.Accept) {
		if err := removeEntry(ctx, r.conn, name); err != nil {
			return databaseError("the migrations ledger cannot be written", err)
		}
	}
	at, position := r.o.now().UTC().Truncate(time.Millisecond), nextPosition(ledger)
	for _, e := range ledger {
		if slices.Contains(stated.Accept, e.Name) {
			e.SHA256 = r.set.sums[e.Name]
			if err := insertEntry(ctx, r.conn, e); err != nil {
				return databaseError("the migrations ledger cannot be written", err)
			}
		}
	}
	for i, name := range stated.Record {
		e := Entry{Name: name, SHA256: r.set.sums[name], Position: position + i, AppliedAt: at, Tool: r.o.tool()}
		if err := insertEntry(ctx, r.conn, e); err != nil {
			return databaseError("the migrations ledger cannot be written", err)
		}
	}
	return nil
}

// fits refuses statements about files of which something else is true.
func (s fileSet) fits(stated Repair, status Status) error {
	var errs Errors
	refuse := func(name, msg, fix string) {
		errs = append(errs, &Error{Code: CodeRepair, Msg: fmt.Sprintf("%q %s", name, msg), Fix: fix})
	}
	applied := func(name string) bool {
		return slices.ContainsFunc(status.Applied, func(e Entry) bool { return e.Name == name })
	}
	for _, name := range stated.Accept {
		if !slices.ContainsFunc(status.Edited, func(f File) bool { return f.Name == name }) {
			refuse(name, "is no edited migration", "pages migrate status says which are")
		}
	}
	for _, name := range stated.Forget {
		if !applied(name) {
			refuse(name, "is not in the ledger", "pages migrate status says which are applied")
		}
		if slices.Contains(stated.Accept, name) {
			refuse(name, "cannot be accepted and forgotten", "state one of them")
		}
	}
	for i, name := range stated.Record {
		_, present := s.sums[name]
		switch {
		case !present:
			refuse(name, "is no file of the migrations directory", "write its base name, such as 0001_posts.sql")
		case applied(name) && !slices.Contains(stated.Forget, name):
			refuse(name, "is applied already", "an edited one can be accepted")
		case slices.Contains(stated.Record[:i], name):
			refuse(name, "is named twice", "name it once")
		}
	}
	return errs.orNil()
}
