package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
)

// checked is one manifest and what was found about it.
type checked struct {
	report manifest.Report      // files as the user would name them
	diags  manifest.Diagnostics // files relative to the site's folder
	src    []byte
}

func (c *cli) newValidate() *cobra.Command {
	var format, failOn string
	cmd := &cobra.Command{
		Use:   "validate [DIR | MANIFEST | -]…",
		Short: "Check pages.deploy.json against every rule and ceiling of the platform",
		Long: "Check pages.deploy.json against every rule and ceiling of the platform.\n\n" +
			"All problems are reported, each at its own line and column. With - the\nmanifest is read from stdin, and the files it names are not looked at.\n\n" +
			"Exit codes: 0 valid (warnings allowed), 1 refused, 2 wrong usage.",
		Example: "  pages validate\n  pages validate sites/club --format github\n  pages validate --json < /dev/null -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.json && cmd.Flags().Changed("format") && format != "json" {
				return usageError("--json and --format %s ask for two forms", format)
			}
			if c.json {
				format = "json"
			}
			if failOn != "error" && failOn != "warning" {
				return usageError("--fail-on is %q; it is error or warning", failOn)
			}
			results, err := c.check(args)
			if err != nil {
				return err
			}
			if err := c.writeReports(format, results); err != nil {
				return err
			}
			for _, r := range results {
				if !r.report.OK || failOn == "warning" && len(r.report.Diagnostics) > 0 {
					return errShown
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "`form` of the report: text, json, github, sarif")
	cmd.Flags().StringVar(&failOn, "fail-on", "error", "`severity` that makes the exit code 1: error, warning")
	return cmd
}

// errShown ends a command whose report has said everything.
var errShown = errors.New("refused")

// check validates every site named, or the one found by walking up.
func (c *cli) check(args []string) ([]checked, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	var results []checked
	for _, arg := range args {
		if arg == "-" {
			src, err := io.ReadAll(io.LimitReader(c.stdin, maxStdin))
			if err != nil {
				return nil, fmt.Errorf("read stdin: %w", err)
			}
			_, diags := manifest.Parse("stdin", src)
			results = append(results, checked{report: manifest.NewReport("stdin", diags), src: src})
			continue
		}
		var named []string
		if arg != "" {
			named = []string{arg}
		}
		dir, err := c.find(named)
		if err != nil {
			return nil, err
		}
		_, r := c.load(dir)
		results = append(results, r)
	}
	return results, nil
}

const maxStdin = 64 << 20

// load reads and checks the manifest of the site in dir; it is nil when it was
// refused.
func (c *cli) load(dir string) (*manifest.Manifest, checked) {
	path := filepath.Join(dir, manifest.FileName)
	m, diags := manifest.Load(os.DirFS(dir), manifest.FileName)
	src, _ := os.ReadFile(path) // without it the report has no code frames
	return m, checked{report: manifest.NewReport(c.shown(path), diags), diags: diags, src: src}
}

// loadSite finds a command's site and its manifest, which must be valid. Warnings
// are printed.
func (c *cli) loadSite(args []string) (string, *manifest.Manifest, error) {
	dir, err := c.find(args)
	if err != nil {
		return "", nil, err
	}
	m, r := c.load(dir)
	if m == nil {
		return "", nil, &refused{report: r.report, src: r.src}
	}
	if len(r.report.Diagnostics) > 0 && !c.quiet && !c.json {
		c.printDiagnostics(r.report, r.src)
	}
	return dir, m, nil
}

func (c *cli) writeReports(format string, results []checked) error {
	switch format {
	case "text":
		for _, r := range results {
			if err := manifest.WriteText(c.stdout, r.report, r.src, c.colored(c.stdout)); err != nil {
				return err
			}
		}
		return nil
	case "json":
		for _, r := range results {
			if err := manifest.WriteJSON(c.stdout, r.report); err != nil {
				return err
			}
		}
		return nil
	case "github":
		return c.writeGitHub(reports(results))
	case "sarif":
		return manifest.WriteSARIF(c.stdout, reports(results)...)
	}
	return usageError("--format is %q; it is one of text, json, github, sarif", format)
}

func reports(results []checked) []manifest.Report {
	list := make([]manifest.Report, len(results))
	for i, r := range results {
		list[i] = r.report
	}
	return list
}

// writeGitHub writes annotations, and the whole list where GitHub collects
// summaries.
func (c *cli) writeGitHub(list []manifest.Report) error {
	if err := manifest.WriteGitHub(c.stdout, list...); err != nil {
		return err
	}
	path, ok := c.lookup("GITHUB_STEP_SUMMARY")
	if !ok || path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the step summary: %w", err)
	}
	return errors.Join(manifest.WriteGitHubSummary(f, list...), f.Close())
}

// printDiagnostics prints a report for people beside another command's result.
func (c *cli) printDiagnostics(r manifest.Report, src []byte) {
	// Writing to stderr fails only when nobody reads it.
	_ = manifest.WriteText(c.stderr, r, src, c.colored(c.stderr))
}
