package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrate() *cobra.Command {
	var outOfOrder bool
	cmd := &cobra.Command{
		Use:   "migrate [DIR]",
		Short: "Apply the .sql migrations to the site's local database, in filename order",
		Long: "Apply the .sql migrations to the site's local database, in filename order.\n\n" +
			"Each file is one transaction with its row in the ledger. A file that changed\nafter it was applied, one that is gone and a new one that sorts before an\n" +
			"applied one are refused. The database as it was before is kept for\npages migrate undo.\n\nExit codes: 0 all applied, 1 refused or failed, 2 wrong usage, 9 the database or\nthe state folder cannot be used.",
		Example: "  pages migrate\n  pages migrate status\n  pages migrate plan --sql\n  pages migrate undo",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.misspelled(cmd, args); err != nil {
				return err
			}
			tell, stop := c.watchProgress()
			defer stop()
			return c.withMigrations(cmd.Context(), args, migrate.Options{AllowOutOfOrder: outOfOrder, Progress: tell}, func(s *migrations) error {
				result, err := s.Apply(cmd.Context())
				stop()
				return s.printApplied(result, err)
			})
		},
	}
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "apply a file that sorts before an applied one, on this machine")
	cmd.AddCommand(c.newMigrateStatus(), c.newMigratePlan(), c.newMigrateNew(), c.newMigrateReset(), c.newMigrateRehearse(),
		c.newMigrateSchema(), c.newMigrateSquash(), c.newMigrateRepair(), c.newMigrateUndo())
	return cmd
}

// misspelled refuses an argument that is no site and nearly a command.
func (c *cli) misspelled(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(c.path(args[0])); err == nil {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usageError("%q is no site and no command of pages migrate; did you mean %q?", args[0], near[0])
	}
	return nil
}

// migrations is the site whose migrations a command is about.
type migrations struct {
	*cli
	*migrate.Migrator
	dir  string // the site's
	path string // of the database
	m    *manifest.Manifest
}

// undoFolder holds the copies of the database from before it was migrated.
const undoFolder = "undo"

// migrationOptions are those of the site's database in a state folder.
func (c *cli) migrationOptions(s *state, m *manifest.Manifest, o migrate.Options) migrate.Options {
	o.Dir, o.Now, o.Tool, o.Tables = m.Bindings.Database.Migrations, c.now, "pages "+version, m.Bindings.Database.Tables
	o.UndoDir = filepath.Join(s.dir, undoFolder)
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	return o
}

// migrator gives the migrator of an open database of the site in dir.
func (c *cli) migrator(s *state, db *sql.DB, dir string, m *manifest.Manifest, o migrate.Options) *migrate.Migrator {
	var files fs.FS
	if m.Bindings.Database.Migrations != "" {
		files = os.DirFS(dir)
	}
	return migrate.New(db, files, c.migrationOptions(s, m, o))
}

// findMigrations is the site that is meant, which must declare a database.
func (c *cli) findMigrations(args []string) (*migrations, *state, error) {
	dir, err := c.find(args)
	if err != nil {
		return nil, nil, err
	}
	// The manifest alone: what else is wrong with the site is no matter here, and is what validate tells.
	path := filepath.Join(dir, manifest.FileName)
	src, err := readSource(path)
	if err != nil {
		return nil, nil, &failure{code: exitRefused, id: "unreadable", msg: fmt.Sprintf("%q cannot be read: %s", c.shown(path), reason(err)), err: err}
	}
	m, diags := manifest.Parse(c.shown(path), src)
	if m == nil || diags.HasErrors() {
		return nil, nil, &refused{report: manifest.NewReport(c.shown(path), diags), src: src}
	}
	if m.Bindings.Database == nil {
		return nil, nil, &failure{code: exitRefused, id: "no-database", msg: "the site declares no database", fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
	}
	s := &state{dir: c.statePath(dir)}
	return &migrations{cli: c, dir: dir, path: filepath.Join(s.dir, siteFile), m: m}, s, nil
}

// withMigrations runs fn on a site's database, while no other process migrates it.
func (c *cli) withMigrations(ctx context.Context, args []string, o migrate.Options, fn func(*migrations) error) (err error) {
	site, s, err := c.findMigrations(args)
	if err != nil {
		return err
	}
	if s, err = openStateIn(s.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	db, err := s.open(ctx, siteFile)
	if err != nil {
		return err
	}
	site.Migrator = c.migrator(s, db, site.dir, site.m, o)
	return site.fail(fn(site))
}

// readMigrations runs fn on a site's database, of which it writes nothing, not even a state folder.
func (c *cli) readMigrations(ctx context.Context, args []string, o migrate.Options, fn func(*migrations) error) (err error) {
	site, s, err := c.findMigrations(args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := s.openToRead(ctx, siteFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	site.Migrator = c.migrator(s, db, site.dir, site.m, o)
	return site.fail(fn(site))
}

// migrationDoc is what `pages migrate --json` prints.
type migrationDoc struct {
	OK        bool            `json:"ok"`
	Database  string          `json:"database"`
	Applied   []migrationItem `json:"applied"`
	Squashed  []string        `json:"squashed,omitempty"`
	Failed    string          `json:"failed,omitempty"`
	Remaining []string        `json:"remaining,omitempty"`
	Warnings  []string        `json:"warnings"`
}

type migrationItem struct {
	Name       string  `json:"name"`
	SHA256     string  `json:"sha256"`
	Position   int     `json:"position"`
	AppliedAt  string  `json:"applied_at"`
	DurationMS float64 `json:"duration_ms"`
	Tool       string  `json:"tool"`
}

func items(entries []migrate.Entry) []migrationItem {
	list := []migrationItem{}
	for _, e := range entries {
		list = append(list, migrationItem{e.Name, e.SHA256, e.Position, e.AppliedAt.Format("2006-01-02T15:04:05.000Z"), e.DurationMS, e.Tool})
	}
	return list
}

// printApplied tells of a run, also of one that failed.
func (s *migrations) printApplied(result migrate.Result, err error) error {
	doc := migrationDoc{
		OK: err == nil, Database: s.path, Applied: items(result.Applied), Squashed: result.Squashed,
		Failed: result.Failed, Remaining: result.Remaining, Warnings: s.warnings(result.Warnings),
	}
	if s.json {
		if err == nil {
			s.printJSON(doc)
		}
		return s.withDoc(err, doc)
	}
	for _, a := range result.Applied {
		s.progress("applied %s", a.Name)
	}
	for _, name := range result.Squashed {
		s.progress("recorded %s in the place of the migrations it stands for", name)
	}
	s.warnAll(doc.Warnings)
	if err != nil {
		if stands := result.Stands(); stands != "" {
			fmt.Fprintln(s.stderr, stands)
		}
		return err
	}
	if len(result.Applied)+len(result.Squashed) == 0 {
		s.progress("nothing to apply")
	}
	return nil
}

// withDoc makes the JSON document of an error hold that of the command too.
func (s *migrations) withDoc(err error, doc any) error {
	err = s.fail(err)
	var said any
	code := exitRefused
	if file, ok := errors.AsType[*refused](err); ok {
		said = file.report
	} else if f, ok := errors.AsType[*failure](err); ok && !errors.Is(err, context.Canceled) {
		said, code = map[string]any{"ok": false, "code": f.id, "message": f.msg, "fix": f.fix}, f.code
	} else {
		return err
	}
	whole := map[string]any{}
	for _, part := range []any{doc, said} {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &whole); err != nil {
			return err
		}
	}
	s.printJSON(whole)
	return &failure{code: code, err: errShown}
}

// warnings are notices as lines, with the files as the user would name them.
func (s *migrations) warnings(notices []migrate.Notice) []string {
	lines := []string{}
	for _, n := range notices {
		at := n.Name
		if n.Pos.IsValid() {
			at = s.shown(filepath.Join(s.dir, n.Pos.Filename)) + fmt.Sprintf(":%d:%d", n.Pos.Line, n.Pos.Column)
		}
		lines = append(lines, fmt.Sprintf("%s: %s [%s]", at, n.Msg, n.Code))
	}
	return lines
}

func (c *cli) warnAll(warnings []string) {
	for _, w := range warnings {
		c.progress("%s %s", c.paint("33", "warning:"), w)
	}
}

// fail turns what the migrate room refused into what ends a command.
func (s *migrations) fail(err error) error { return s.migrationError(s.dir, err) }

func (c *cli) migrationError(dir string, err error) error {
	if _, done := errors.AsType[*refused](err); done {
		return err
	}
	list := migrationErrors(err)
	if list == nil {
		return err
	}
	code := exitRefused
	if isResource(list[0].Code) {
		code = exitResource
	}
	if code == exitRefused && slices.ContainsFunc(list, func(e *migrate.Error) bool { return e.Pos.Filename != "" || e.Code == migrate.CodeTableMissing }) {
		return c.refuse(dir, migrationDiagnostics(dir, err))
	}
	var messages []string
	for _, e := range list {
		messages = append(messages, e.Error())
	}
	return &failure{code: code, id: list[0].Code, msg: strings.Join(messages, "; "), fix: list[0].Fix, err: err}
}

// migrationErrors are the migrate room's own errors in err.
func migrationErrors(err error) migrate.Errors {
	if list, ok := errors.AsType[migrate.Errors](err); ok {
		return list
	}
	if one, ok := errors.AsType[*migrate.Error](err); ok {
		return migrate.Errors{one}
	}
	return nil
}

// isResource reports whether a failure is this machine's and not the site's.
func isResource(code string) bool {
	return slices.Contains([]string{
		migrate.CodeLocked, migrate.CodeDatabaseReadOnly, migrate.CodeDatabaseFull,
		migrate.CodeDatabaseUnavailable, migrate.CodeDatabaseDamaged,
	}, code)
}

func migrationDiagnostics(dir string, err error) manifest.Diagnostics {
	var diags manifest.Diagnostics
	for _, e := range migrationErrors(err) {
		diags = append(diags, manifest.Diagnostic{
			Severity: manifest.Error, Code: e.Code, File: e.Pos.Filename,
			Line: max(e.Pos.Line, 1), Column: max(e.Pos.Column, 1),
			EndLine: max(e.Pos.Line, 1), EndColumn: max(e.Pos.Column, 1) + 1,
			Message: e.Msg, Fix: e.Fix, Source: sourceLine(dir, e.Pos),
		})
	}
	return diags
}

// sourceLine is the line of the site's file that pos is on; "" for none.
func sourceLine(dir string, pos token.Position) string {
	for _, l := range snippet(dir, pos.Filename, pos.Line) {
		if l.Hit {
			return l.Text
		}
	}
	return ""
}
