// Package doctor finds the faults that keep a site from running on this machine: engine, port, manifest, packages, state,
// databases, migrations, objects, secrets and the service.
//
// Run takes Options and prints a report, a table or a Document; the error is a *failure.Error around failure.ErrShown if it found an error.
// An examination runs in one goroutine. It changes nothing without Repair, and Repair makes only changes that cannot lose data.
package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// Options configure an examination.
type Options struct {
	Term        *terminal.Terminal
	Sites       *project.Sites
	States      localstate.Locator
	Remote      remote.Options
	Dir         string // the site's; "" for none
	Data        string // of a service; "" for the usual folder
	Repair      bool   // make the repairs that cannot lose data
	Verify      bool   // read every file that was uploaded to the service of Data
	Tool        string // as ledgers of migrations name this program
	Version     string
	EngineCache string // folder of the machine code of WebAssembly; "" for none
	Port        int    // where pages dev listens by default
	Workerd     workerd.Places
}

// Run examines the site and prints the report. The error is failure.ErrShown if it found an error.
func Run(ctx context.Context, o Options) error {
	d := &examination{options: o}
	if o.Dir != "" {
		d.manifest, d.refused = o.Sites.Load(o.Dir)
	}
	if err := d.examine(ctx); err != nil {
		return err
	}
	return d.print()
}

// examination is one examination.
type examination struct {
	options  Options
	manifest *manifest.Manifest // nil without a site, or for a refused manifest
	refused  project.Checked
	found    []Finding
}

// Verdict is the severity of a finding.
type Verdict string

// The verdicts.
const (
	Healthy Verdict = "ok"
	Fixed   Verdict = "fixed"
	skipped Verdict = "skipped"
	warned  Verdict = "warning"
	Broken  Verdict = "error"
)

// Finding is the result of one check.
type Finding struct {
	Check   string  `json:"check"`
	Status  Verdict `json:"status"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"`
	Fixable bool    `json:"fixable"` // by --fix

	mend func(context.Context) error
}

// Document is the output of `pages doctor --json`.
type Document struct {
	OK     bool      `json:"ok"` // no finding is an error
	Site   string    `json:"site,omitempty"`
	Checks []Finding `json:"checks"`
}

// examine makes the checks in order.
func (d *examination) examine(ctx context.Context) error {
	checks := []func(context.Context) []Finding{d.checkBinary, d.checkEngine, d.checkWorkerd, d.checkPort}
	if d.options.Dir != "" {
		checks = append(checks, d.checkManifest, d.checkPackages, d.checkTypes, d.checkSecrets, d.checkIgnore, d.checkWatching,
			d.checkDisk, d.checkState, d.checkDatabases, d.checkMigrations, d.checkObjects)
	}
	checks = append(checks, d.checkService)
	if d.options.Verify {
		checks = append(checks, d.checkBlobs)
	}
	for _, check := range checks {
		for _, f := range check(ctx) {
			d.found = append(d.found, d.repair(ctx, f))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// repair makes the repair of a finding, with Options.Repair.
func (d *examination) repair(ctx context.Context, f Finding) Finding {
	f.Fixable = f.mend != nil
	if f.mend == nil || !d.options.Repair {
		if f.Fixable {
			f.Fix = "run pages doctor --fix"
		}
		return f
	}
	if err := f.mend(ctx); err != nil {
		f.Message += "; the repair failed: " + err.Error()
		return f
	}
	f.Status, f.Fix = Fixed, ""
	return f
}

// print prints the report, and returns an error if a finding is one.
func (d *examination) print() error {
	counts := map[Verdict]int{}
	for _, f := range d.found {
		counts[f.Status]++
	}
	if d.options.Term.JSON {
		d.options.Term.PrintJSON(Document{OK: counts[Broken] == 0, Site: filepath.ToSlash(d.options.Dir), Checks: d.found})
	} else if err := d.list(); err != nil {
		return err
	}
	if counts[Broken] > 0 {
		return &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
	}
	if !d.options.Term.JSON && counts[warned] == 0 {
		d.options.Term.Progress("all is well")
	}
	return nil
}

func (d *examination) list() error {
	styles := map[Verdict]string{Healthy: "32", Fixed: "32;1", skipped: "2", warned: "33", Broken: "31;1"}
	out := d.options.Term.Stdout
	paint := func(style, text string) string { return d.options.Term.PaintFor(out, style, fmt.Sprintf("%-7s", text)) }
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range d.found {
		fmt.Fprintf(table, "%s\t%s\t%s\n", paint(styles[f.Status], string(f.Status)), f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(table, "%s\t\t%s\n", paint("36", "  fix"), f.Fix)
		}
	}
	return table.Flush()
}

// well, notLooked, warns and breaks return the single finding of a check.
func well(check, format string, args ...any) []Finding {
	return []Finding{{Check: check, Status: Healthy, Message: fmt.Sprintf(format, args...)}}
}

func notLooked(check, why string) []Finding {
	return []Finding{{Check: check, Status: skipped, Message: why}}
}

func warns(check, fix, format string, args ...any) []Finding {
	return []Finding{{Check: check, Status: warned, Message: fmt.Sprintf(format, args...), Fix: fix}}
}

func breaks(check, fix, format string, args ...any) []Finding {
	return []Finding{{Check: check, Status: Broken, Message: fmt.Sprintf(format, args...), Fix: fix}}
}
