package main

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newDoctor() *cobra.Command {
	d := &doctor{cli: c}
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Look for what keeps a site from running on this machine",
		Long: "Look for what keeps a site from running on this machine: the engine and its cache,\nthe manifest, packages, the port, the state folder with its databases, migrations\nand objects, watching, secrets, and the service. Outside of a site the machine\nalone is looked at. Each finding says what to do about it.\n\n" +
			"Nothing is changed without --fix, which does what cannot lose anything: it removes\nwhat killed processes left behind and a damaged cache, completes .gitignore, and\nwrites the types anew.\n\n" +
			"With --verify every file that was uploaded to the service whose data is in the folder\n--data is read and compared with its SHA-256, also while the service runs; --fix sets\naside those that are not what was uploaded.\n\n" +
			"Exit codes: 0 nothing is broken (warnings may be told), 1 something is, 2 wrong\nusage.",
		Example: "  pages doctor\n  pages doctor --fix\n  pages doctor sites/club --json\n  pages doctor --verify --data /srv/pages",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if d.data != "" && !d.verify {
				return failure.Usage("--data belongs to --verify")
			}
			if dir, err := c.sites().Find(args); err == nil {
				d.site(dir)
			} else if len(args) > 0 || c.siteDir != "" {
				return err
			}
			if err := d.examine(cmd.Context()); err != nil {
				return err
			}
			return d.print()
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&d.repair, "fix", false, "mend what can be mended without losing anything")
	flags.BoolVar(&d.verify, "verify", false, "read every file that was uploaded to a service on this machine")
	flags.StringVar(&d.data, "data", "", "`folder` of that service's data (default: .pages/platform)")
	return cmd
}

// doctor is one examination.
type doctor struct {
	*cli

	repair   bool
	verify   bool
	data     string             // of a service; "" for the usual folder
	dir      string             // the site's; "" for none
	manifest *manifest.Manifest // nil without a site, or when it was refused
	refused  project.Checked
	found    []finding
}

// verdict says how grave a finding is.
type verdict string

const (
	healthy verdict = "ok"
	fixed   verdict = "fixed"
	skipped verdict = "skipped"
	warned  verdict = "warning"
	broken  verdict = "error"
)

// finding is what one check found.
type finding struct {
	Check   string  `json:"check"`
	Status  verdict `json:"status"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"`
	Fixable bool    `json:"fixable"` // by --fix

	mend func(context.Context) error
}

// doctorDoc is what `pages doctor --json` prints.
type doctorDoc struct {
	OK     bool      `json:"ok"` // nothing is broken
	Site   string    `json:"site,omitempty"`
	Checks []finding `json:"checks"`
}

// site takes the site in dir. All that finds a site by itself finds this one.
func (d *doctor) site(dir string) {
	d.dir, d.siteDir = dir, dir
	d.manifest, d.refused = d.sites().Load(dir)
}

// examine makes the checks, one after the other.
func (d *doctor) examine(ctx context.Context) error {
	checks := []func(context.Context) []finding{d.checkBinary, d.checkEngine, d.checkPort}
	if d.dir != "" {
		checks = append(checks, d.checkManifest, d.checkPackages, d.checkTypes, d.checkSecrets, d.checkIgnore, d.checkWatching,
			d.checkDisk, d.checkState, d.checkDatabases, d.checkMigrations, d.checkObjects)
	}
	checks = append(checks, d.checkService)
	if d.verify {
		checks = append(checks, d.checkBlobs)
	}
	for _, check := range checks {
		for _, f := range check(ctx) {
			d.found = append(d.found, d.treat(ctx, f))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// treat mends what can be mended, when that was asked for.
func (d *doctor) treat(ctx context.Context, f finding) finding {
	f.Fixable = f.mend != nil
	if f.mend == nil || !d.repair {
		if f.Fixable {
			f.Fix = "run pages doctor --fix"
		}
		return f
	}
	if err := f.mend(ctx); err != nil {
		f.Message += "; mending it failed: " + err.Error()
		return f
	}
	f.Status, f.Fix = fixed, ""
	return f
}

// print prints the report, and returns an error when something is broken.
func (d *doctor) print() error {
	counts := map[verdict]int{}
	for _, f := range d.found {
		counts[f.Status]++
	}
	if d.term.JSON {
		d.term.PrintJSON(doctorDoc{OK: counts[broken] == 0, Site: filepath.ToSlash(d.dir), Checks: d.found})
	} else if err := d.list(); err != nil {
		return err
	}
	if counts[broken] > 0 {
		return &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
	}
	if !d.term.JSON && counts[warned] == 0 {
		d.term.Progress("all is well")
	}
	return nil
}

func (d *doctor) list() error {
	styles := map[verdict]string{healthy: "32", fixed: "32;1", skipped: "2", warned: "33", broken: "31;1"}
	table := tabwriter.NewWriter(d.term.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range d.found {
		fmt.Fprintf(table, "%s\t%s\t%s\n", d.term.PaintFor(d.term.Stdout, styles[f.Status], fmt.Sprintf("%-7s", f.Status)), f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(table, "%s\t\t%s\n", d.term.PaintFor(d.term.Stdout, "36", fmt.Sprintf("%-7s", "  fix")), f.Fix)
		}
	}
	return table.Flush()
}

func well(check, format string, args ...any) []finding {
	return []finding{{Check: check, Status: healthy, Message: fmt.Sprintf(format, args...)}}
}

func notLooked(check, why string) []finding {
	return []finding{{Check: check, Status: skipped, Message: why}}
}

func warns(check, fix, format string, args ...any) []finding {
	return []finding{{Check: check, Status: warned, Message: fmt.Sprintf(format, args...), Fix: fix}}
}

func breaks(check, fix, format string, args ...any) []finding {
	return []finding{{Check: check, Status: broken, Message: fmt.Sprintf(format, args...), Fix: fix}}
}
