package migration

import (
	"context"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

// RehearsalReport is what `pages migrate rehearse --json` prints.
type RehearsalReport struct {
	OK       bool           `json:"ok"`
	Applied  []Item         `json:"applied"`
	Failed   string         `json:"failed,omitempty"`
	Compared bool           `json:"compared"` // false when the site has no database yet
	Schema   []SchemaChange `json:"schema"`   // from the site's database to the rehearsed one
	Warnings []string       `json:"warnings"`
}

// Rehearse runs all migrations on an empty database, and compares its schema with the site's.
func (s *Site) Rehearse(ctx context.Context) error {
	progress, stop := watchProgress(s.term)
	defer stop()
	return s.Read(ctx, migrate.Options{Progress: progress}, func(m *migrate.Migrator) error {
		h, err := m.Rehearse(ctx)
		stop()
		return s.printRehearsal(h, err)
	})
}

func (s *Site) printRehearsal(h migrate.Rehearsal, err error) error {
	doc := RehearsalReport{
		OK: err == nil && len(h.Changes) == 0, Applied: items(h.Applied), Failed: h.Failed,
		Compared: h.Compared, Schema: schemaChanges(h.Changes), Warnings: s.warnings(h.Warnings),
	}
	var differs error
	if len(h.Changes) > 0 {
		differs = &failure.Error{
			Exit: failure.ExitRefused, Code: "migration_schema_differs",
			Message: "the schema of the site's database is not the one its migrations give",
			Fix:     "what was changed by hand or by the Worker belongs into a migration; pages migrate reset makes the database anew",
		}
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
			if differs != nil {
				differs = &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
			}
			return differs
		}
		return s.printFailed(err, doc)
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err != nil {
		if stands := len(h.Applied); stands > 0 {
			fmt.Fprintf(s.term.Stderr, "%s ran before it; nothing was written\n", wording.Count(stands, "file"))
		}
		return err
	}
	printChanges(s.term.Stdout, doc.Schema)
	if differs == nil {
		same := "; its schema is that of the site's database"
		if !h.Compared {
			same = "; the site has no database to compare with"
		}
		s.term.Progress("%s ran on an empty database%s", wording.Count(len(h.Applied), "migration"), same)
	}
	return differs
}
