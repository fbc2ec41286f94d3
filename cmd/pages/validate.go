package main

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// validateFlags are the flags of `pages validate`.
type validateFlags struct {
	format string
	failOn string
	alone  bool
	watch  bool
}

func (c *cli) newValidate() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate [DIR | MANIFEST | -]…",
		Short: "Check pages.deploy.json against every rule and ceiling of the platform",
		Long: "Check pages.deploy.json against every rule and ceiling of the platform.\n\n" +
			"All problems are reported, each at its own line and column: those of the\nmanifest, and those of the files it names. With - the manifest is read from\nstdin, and with --manifest-only from its file: the other files are not looked\nat then. Several sites are checked in one go.\n\n" +
			"Exit codes: 0 valid (warnings allowed), 1 refused, 2 wrong usage. --watch goes on\nuntil a signal: 130 by Ctrl-C.",
		Example: "  pages validate\n  pages validate --watch\n  pages validate sites/* --format github\n  git show HEAD:pages.deploy.json | pages validate -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.settle(&f, cmd.Flags().Changed("format"), args); err != nil {
				return err
			}
			if f.watch {
				return c.validateOnChange(cmd.Context(), f, args)
			}
			// The process ends before its garbage is worth collecting often.
			debug.SetGCPercent(shortRunGCPercent)
			results, err := project.Checker{Sites: c.sites(), Alone: f.alone}.All(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := c.writeReports(f.format, results); err != nil {
				return err
			}
			if refusedBy(f.failOn, results) {
				return failure.ErrShown
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "`format` of the report: text, json, github, sarif")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "error", "`severity` that makes the exit code 1: error, warning")
	cmd.Flags().BoolVar(&f.alone, "manifest-only", false, "do not look at the files that the manifest names")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "check again whenever a file changes")
	return cmd
}

// settle checks the flags against each other.
func (c *cli) settle(f *validateFlags, formatGiven bool, args []string) error {
	switch {
	case !c.term.JSON:
	case c.typed["json"] && c.typed["format"] && f.format != "json":
		return failure.Usage("--json and --format %s ask for two forms", f.format)
	case c.typed["json"], !formatGiven: // what is typed counts before the environment
		f.format = "json"
	}
	if c.typed["dir"] && len(args) > 0 {
		return project.ErrTwoSites
	}
	stdin := 0
	for _, arg := range args {
		if arg == "-" {
			stdin++
		}
	}
	switch {
	case !slices.Contains([]string{"text", "json", "github", "sarif"}, f.format):
		return failure.Usage("--format is %q; it is one of text, json, github, sarif", f.format)
	case f.failOn != "error" && f.failOn != "warning":
		return failure.Usage("--fail-on is %q; it is error or warning", f.failOn)
	case stdin > 1:
		return failure.Usage("stdin (-) can be read only once")
	case f.watch && stdin > 0:
		return failure.Usage("--watch needs files, and - is stdin")
	case f.watch && f.format != "text" && f.format != "json":
		return failure.Usage("--watch reports as text or json, not as %s", f.format)
	}
	return nil
}

func refusedBy(severity string, results []project.Checked) bool {
	return slices.ContainsFunc(results, func(r project.Checked) bool {
		return !r.Report.OK || severity == "warning" && len(r.Report.Diagnostics) > 0
	})
}

func (c *cli) writeReports(format string, results []project.Checked) error {
	list := reports(results)
	switch format {
	case "json":
		return diagnostic.WriteJSON(c.term.Stdout, list...)
	case "github":
		return c.writeGitHub(c.inWorkspace(list))
	case "sarif":
		return diagnostic.WriteSARIF(c.term.Stdout, c.inWorkspace(list)...)
	}
	return c.writeText(c.term.Stdout, results)
}

// writeText writes the reports one below the other, and a count below several.
func (c *cli) writeText(to io.Writer, results []project.Checked) error {
	w, style, bad := bufio.NewWriter(to), c.term.ReportOn(c.term.Stdout), 0
	for i, r := range results {
		if i > 0 && len(r.Report.Diagnostics) > 0 {
			fmt.Fprintln(w)
		}
		if err := diagnostic.WriteText(w, r.Report, r.Source, style); err != nil {
			return err
		}
		if !r.Report.OK {
			bad++
		}
	}
	if len(results) > 1 && bad > 0 {
		fmt.Fprintf(w, "\n%d of %d manifests were refused\n", bad, len(results))
	}
	return w.Flush()
}

func reports(results []project.Checked) []diagnostic.Report {
	list := make([]diagnostic.Report, len(results))
	for i, r := range results {
		list[i] = r.Report
	}
	return list
}
