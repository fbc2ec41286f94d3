package main

import (
	"bytes"
	"context"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/rehearsal"
	"github.com/pages-toolchain/pages/devserver/filewatch"
)

// validateFlags are the flags of `pages validate`.
type validateFlags struct {
	format string
	failOn string
	alone  bool
	watch  bool
	poll   filewatch.Poll
}

func (c *cli) newValidate() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate [DIR | MANIFEST | -]…",
		Short: "Check pages.deploy.json against every rule and ceiling of the platform",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkValidate(&f, cmd.Flags().Changed("format"), args); err != nil {
				return err
			}
			if f.watch {
				return c.validateOnChange(cmd.Context(), f, args)
			}
			// The process ends before frequent garbage collection would pay.
			debug.SetGCPercent(shortRunGCPercent)
			results, err := project.Checker{Sites: c.sites(), Alone: f.alone}.All(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := c.writeReports(f.format, results); err != nil {
				return err
			}
			if slices.ContainsFunc(results, func(r project.Checked) bool {
				return !r.Report.OK || f.failOn == "warning" && len(r.Report.Diagnostics) > 0
			}) {
				return failure.ErrShown
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "`format` of the report: text, json, github, sarif")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "error", "`severity` that makes the exit code 1: error, warning")
	cmd.Flags().BoolVar(&f.alone, "manifest-only", false, "do not look at the files that the manifest names")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "check again whenever a file changes")
	addPoll(cmd.Flags(), &f.poll)
	return cmd
}

// checkValidate refuses flags that do not go together.
func (c *cli) checkValidate(f *validateFlags, formatGiven bool, args []string) error {
	switch {
	case !c.term.JSON:
	case c.typed["json"] && c.typed["format"] && f.format != "json":
		return failure.Usage("--json and --format %s exclude each other", f.format)
	case c.typed["json"], !formatGiven: // a typed flag takes precedence over the environment
		f.format = "json"
	}
	if c.typed["dir"] && len(args) > 0 {
		return project.ErrTwoSites
	}
	stdin := len(args) - len(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "-" }))
	switch {
	case !slices.Contains([]string{"text", "json", "github", "sarif"}, f.format):
		return failure.Usage("--format is %q; it must be one of text, json, github, sarif", f.format)
	case f.failOn != "error" && f.failOn != "warning":
		return failure.Usage("--fail-on is %q; it must be error or warning", f.failOn)
	case stdin > 1:
		return failure.Usage("stdin (-) can be read only once")
	case f.watch && stdin > 0:
		return failure.Usage("--watch needs files: it cannot read stdin (-)")
	case f.watch && f.format != "text" && f.format != "json":
		return failure.Usage("--watch reports as text or json, not as %s", f.format)
	}
	return nil
}

// validateOnChange checks now and after every change of the checked files, until
// a signal ends it. It skips a report that equals the last one.
func (c *cli) validateOnChange(ctx context.Context, f validateFlags, args []string) error {
	if len(args) == 0 {
		dir, err := c.sites().Find(nil)
		if err != nil {
			return err
		}
		args = []string{dir}
	}
	check := project.Checker{Sites: c.sites(), Alone: f.alone, Record: true, Rehearsals: &rehearsal.Cache{}}
	var last []byte
	watched := filewatch.Options{Poll: f.poll, Now: c.term.Now, Logger: devsession.NewLogger(&c.term)}
	return filewatch.Follow(ctx, watched, func(ctx context.Context) ([]string, error) {
		results, err := check.All(ctx, args)
		if err != nil {
			return nil, err
		}
		var watch []string
		for _, r := range results {
			watch = append(watch, r.Looked...)
		}
		text, err := c.watchedReport(f.format, results)
		if err == nil && !bytes.Equal(text, last) {
			_, err = c.term.Stdout.Write(text)
		}
		if last == nil {
			c.term.Progress("watching for changes; Ctrl-C ends")
		}
		last = text
		slices.Sort(watch)
		return slices.Compact(watch), err
	})
}
