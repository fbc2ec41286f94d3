package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrate() *cobra.Command {
	var plan, rehearse, outOfOrder bool
	cmd := &cobra.Command{
		Use:   "migrate [DIR]",
		Short: "Apply the .sql migrations to the site's local database, in filename order",
		Long: "Apply the .sql migrations to the site's local database, in filename order.\n\n" +
			"Each file is one transaction with its row in the ledger. A file that changed\nafter it was applied, one that is gone and a new one that sorts before an\n" +
			"applied one are refused.\n\nExit codes: 0 all applied, 1 refused or failed, 2 wrong usage, 9 the state\nfolder cannot be used.",
		Example: "  pages migrate\n  pages migrate --plan\n  pages migrate --rehearse --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, m, err := c.loadSite(args)
			if err != nil {
				return err
			}
			if m.Bindings.Database == nil {
				return &failure{code: exitRefused, id: "no-database", msg: "the site declares no database", fix: `add "bindings": {"database": {"migrations": "migrations"}} to ` + manifest.FileName}
			}
			o := c.migrateOptions(m)
			o.AllowOutOfOrder = outOfOrder
			switch {
			case plan && rehearse:
				return usageError("--plan and --rehearse ask for two things")
			case plan:
				return c.planMigrations(cmd.Context(), dir, m, o)
			case rehearse:
				return c.runMigrations(cmd.Context(), dir, m, o, migrate.Rehearse, "would apply")
			}
			return c.runMigrations(cmd.Context(), dir, m, o, migrate.Apply, "applied")
		},
	}
	cmd.Flags().BoolVar(&plan, "plan", false, "say what would be applied, and write nothing")
	cmd.Flags().BoolVar(&rehearse, "rehearse", false, "run what is pending in a transaction and roll it back")
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "apply a file that sorts before an applied one")
	return cmd
}

func (c *cli) migrateOptions(m *manifest.Manifest) migrate.Options {
	o := migrate.Options{Now: c.now, Tool: "pages " + version, Tables: m.Bindings.Database.Tables}
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	return o
}

// readMigrations reads the folder that the manifest names.
func readMigrations(dir string, m *manifest.Manifest) ([]migrate.File, []migrate.Notice, error) {
	if m.Bindings.Database == nil || m.Bindings.Database.Migrations == "" {
		return nil, nil, nil
	}
	return migrate.Read(os.DirFS(dir), m.Bindings.Database.Migrations)
}

type migrationRun func(context.Context, *sql.DB, []migrate.File, migrate.Options) (migrate.Result, error)

// migrationDoc is what `pages migrate --json` prints.
type migrationDoc struct {
	OK       bool            `json:"ok"`
	Database string          `json:"database"`
	Applied  []migrationItem `json:"applied"`
	Pending  []string        `json:"pending"`
	Warnings []string        `json:"warnings"`
}

type migrationItem struct {
	Name       string  `json:"name"`
	SHA256     string  `json:"sha256"`
	DurationMS float64 `json:"duration_ms,omitempty"`
}

func (c *cli) runMigrations(ctx context.Context, dir string, m *manifest.Manifest, o migrate.Options, run migrationRun, verb string) (err error) {
	s, err := c.openState(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := s.open(ctx, siteFile)
	if err != nil {
		return err
	}
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	files, notices, err := readMigrations(dir, m)
	if err != nil {
		return c.migrationError(dir, err)
	}
	result, err := run(ctx, db, files, o)
	doc := migrationDoc{OK: err == nil, Database: filepath.Join(s.dir, siteFile), Applied: items(result.Applied), Pending: []string{}, Warnings: []string{}}
	for _, n := range append(notices, result.Warnings...) {
		doc.Warnings = append(doc.Warnings, n.Name+": "+n.Msg)
	}
	if !c.json {
		for _, a := range doc.Applied {
			c.progress("%s %s", verb, a.Name)
		}
		c.warnAll(doc.Warnings)
	}
	if err != nil {
		return c.migrationError(dir, err)
	}
	if c.json {
		c.printJSON(doc)
		return nil
	}
	if len(doc.Applied) == 0 {
		c.progress("nothing to apply: %s in the ledger", count(len(files), "migration"))
	}
	return nil
}

func (c *cli) warnAll(warnings []string) {
	for _, w := range warnings {
		c.progress("%s %s", c.paint("33", "warning:"), w)
	}
}

func items(entries []migrate.Entry) []migrationItem {
	list := []migrationItem{}
	for _, e := range entries {
		list = append(list, migrationItem{e.Name, e.SHA256, e.DurationMS})
	}
	return list
}

// planMigrations writes nothing, not even a state folder.
func (c *cli) planMigrations(ctx context.Context, dir string, m *manifest.Manifest, o migrate.Options) (err error) {
	s := &state{dir: c.statePath(dir)}
	db, err := s.openToRead(ctx, siteFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, notices, err := readMigrations(dir, m)
	if err != nil {
		return c.migrationError(dir, err)
	}
	status, err := migrate.Plan(ctx, db, files, o)
	if err != nil {
		return c.migrationError(dir, err)
	}
	doc := migrationDoc{OK: true, Database: filepath.Join(s.dir, siteFile), Applied: items(status.Applied), Pending: []string{}, Warnings: []string{}}
	for _, f := range status.Pending {
		doc.Pending = append(doc.Pending, f.Name)
	}
	for _, n := range append(notices, status.Warnings...) {
		doc.Warnings = append(doc.Warnings, n.Name+": "+n.Msg)
	}
	if c.json {
		c.printJSON(doc)
		return nil
	}
	c.warnAll(doc.Warnings)
	for _, a := range doc.Applied {
		fmt.Fprintf(c.stdout, "applied  %s\n", a.Name)
	}
	for _, name := range doc.Pending {
		fmt.Fprintf(c.stdout, "pending  %s\n", name)
	}
	return nil
}

// migrationError turns what the migrate room refused into diagnostics.
func (c *cli) migrationError(dir string, err error) error {
	diags := migrationDiagnostics(dir, err)
	if diags == nil {
		return err
	}
	return c.refuse(dir, diags)
}

func migrationDiagnostics(dir string, err error) manifest.Diagnostics {
	list, several := errors.AsType[migrate.Errors](err)
	if !several {
		one, ok := errors.AsType[*migrate.Error](err)
		if !ok {
			return nil
		}
		list = migrate.Errors{one}
	}
	var diags manifest.Diagnostics
	for _, e := range list {
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
