package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// seedFile is looked for beside the manifest.
const seedFile = "seed.sql"

// seedTable remembers what was seeded.
const seedTable = "_pages_seeds"

func (c *cli) newStateSeed() *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "seed [DIR]",
		Short: "Run seed.sql on the site's database, once",
		Long: "Run seed.sql, which lies beside the manifest, on the site's database, once:\npending migrations are applied first, then the file is one transaction. A file\nthat was run already is passed over; one that has changed since is refused.\n\n" +
			"Exit codes: 0 seeded, also before; 1 refused or failed, 2 wrong usage, 9 the\ndatabase is locked or cannot be used.",
		Example: "  pages state seed\n  pages state seed --file demo.sql\n  pages state reset --yes\n  pages state seed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.seed(cmd.Context(), file, force)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` with the SQL (default: seed.sql beside the manifest)")
	cmd.Flags().BoolVar(&force, "force", false, "run it again")
	return cmd
}

// seedDoc is what `pages state seed --json` prints.
type seedDoc struct {
	OK       bool     `json:"ok"`
	Database string   `json:"database"`
	Seeded   bool     `json:"seeded"`  // false when it was before
	Applied  []string `json:"applied"` // migrations
	transfer.Ran
}

func (c *cli) seed(ctx context.Context, file string, force bool) (err error) {
	site, err := c.find(nil)
	if err != nil {
		return err
	}
	path := filepath.Join(site, seedFile)
	if file != "" {
		path = c.term.Path(file)
	}
	in, err := userfile.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Exit: failure.ExitRefused, Code: "no-seed", Message: fmt.Sprintf("there is no %s", c.term.Shown(path)), Fix: "write INSERT statements there, or name another file with --file"}
	}
	if err != nil {
		return &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(c.term.Shown(path)), failure.Reason(err)), Err: err}
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(c.term.Shown(path)), failure.Reason(err)), Err: err}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	db, err := c.openDatabase(ctx, &dbFlags{}, d1.ConsoleOptions{Unbounded: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	doc := seedDoc{OK: true, Database: db.Path, Applied: []string{}}
	if err := c.migrateFirst(ctx, db, &doc); err != nil {
		return err
	}
	run := &seedRun{cli: c, db: db, name: filepath.Base(path), sum: hex.EncodeToString(h.Sum(nil)), force: force}
	if doc.Seeded, err = run.due(ctx); err != nil {
		return err
	}
	if doc.Seeded {
		doc.Ran, err = transfer.Script(ctx, db, c.term.Shown(path), in, transfer.ScriptOptions{Dump: true, Last: run.remember})
		if err != nil {
			return sqlshell.Failure(err, sqlshell.NothingChanged)
		}
	}
	run.print(doc)
	return nil
}

// migrateFirst brings the tables about that a seed fills.
func (c *cli) migrateFirst(ctx context.Context, db *sqlshell.Database, doc *seedDoc) (err error) {
	m, _ := c.load(db.Dir)
	if m == nil || m.Bindings.Database == nil {
		return nil // openDatabase has refused it
	}
	unlock, err := db.State.LockMigrations(ctx)
	if err != nil {
		return err
	}
	defer func() {
		unlock()
		if err == nil {
			db.State.NotifyWritten()
		}
	}()
	result, err := c.migrator(db.State, db.Pool, db.Dir, m, migrate.Options{}).Apply(ctx)
	for _, a := range result.Applied {
		doc.Applied = append(doc.Applied, a.Name)
		if !c.term.JSON {
			c.term.Progress("applied %s", a.Name)
		}
	}
	if err != nil {
		return c.migrationError(db.Dir, err)
	}
	return nil
}

// seedRun is one seed file and the database it is for.
type seedRun struct {
	*cli
	db        *sqlshell.Database
	name, sum string
	force     bool
}

// due reports whether the file is still to be run.
func (r *seedRun) due(ctx context.Context) (bool, error) {
	there := false
	if _, err := r.db.Run(ctx, "SELECT 1 FROM sqlite_schema WHERE name = ?", []any{seedTable}, nil, func([]any) error {
		there = true
		return nil
	}); err != nil || !there {
		return err == nil, sqlshell.Failure(err, sqlshell.NothingChanged)
	}
	var last, when string
	_, err := r.db.Run(ctx, "SELECT sha256, applied_at FROM "+seedTable+" WHERE name = ?", []any{r.name}, nil, func(v []any) error {
		last, _ = v[0].(string)
		when, _ = v[1].(string)
		return nil
	})
	switch {
	case err != nil:
		return false, sqlshell.Failure(err, sqlshell.NothingChanged)
	case last == "" || r.force:
		return true, nil
	case last != r.sum:
		return false, &failure.Error{
			Exit: failure.ExitRefused, Code: "seed-changed", Message: fmt.Sprintf("%s has changed since it was run at %s", r.name, when),
			Fix: "pages state reset begins anew; --force runs it on what is there",
		}
	}
	return false, nil
}

// remember writes down, in the transaction of the seed, that it was run.
func (r *seedRun) remember(ctx context.Context) error {
	_, err := r.db.Run(ctx, "CREATE TABLE IF NOT EXISTS "+seedTable+" (name TEXT PRIMARY KEY NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT", nil, nil, nil)
	if err != nil {
		return err
	}
	_, err = r.db.Run(ctx, "INSERT INTO "+seedTable+" (name, sha256, applied_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, applied_at = excluded.applied_at",
		[]any{r.name, r.sum, r.term.Now().UTC().Format(time.RFC3339)}, nil, nil)
	return err
}

func (r *seedRun) print(doc seedDoc) {
	switch {
	case r.term.JSON:
		r.term.PrintJSON(doc)
	case doc.Seeded:
		r.term.Progress("ran %s: %s, %s written", r.name, wording.Count(doc.Statements, "statement"), wording.Count(int(doc.Changes), "row"))
	default:
		r.term.Progress("%s was run before; --force runs it again", r.name)
	}
}
