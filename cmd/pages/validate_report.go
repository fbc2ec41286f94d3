package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// writeReports writes the reports in a format.
func (c *cli) writeReports(format string, results []project.Checked) error {
	list := make([]diagnostic.Report, len(results))
	for i, r := range results {
		list[i] = r.Report
	}
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

// writeText writes the reports one after another, and a count after several.
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

// watchedReport is a report as text, or as a line of JSON for each site.
func (c *cli) watchedReport(format string, results []project.Checked) ([]byte, error) {
	var b bytes.Buffer
	if format == "json" {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		for _, r := range results {
			if err := enc.Encode(r.Report); err != nil {
				return nil, err
			}
		}
		return b.Bytes(), nil
	}
	err := c.writeText(&b, results)
	return b.Bytes(), err
}

// writeGitHub writes annotations, and the list to GitHub's summary of the job. If that fails, it is only a warning: the site is not at
// fault.
func (c *cli) writeGitHub(list []diagnostic.Report) error {
	path, _ := c.term.Lookup("GITHUB_STEP_SUMMARY")
	summarized := path != ""
	if summarized {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			err = errors.Join(diagnostic.WriteGitHubSummary(f, list...), f.Close())
		}
		if err != nil {
			summarized = false
			c.term.Warn("the step summary cannot be written: %s", err)
		}
	}
	return diagnostic.WriteGitHub(c.term.Stdout, summarized, list...)
}

// inWorkspace names files relative to the root of the checkout, as GitHub reads them, if a runner names that root: a step may have another
// working directory. A file elsewhere keeps its name.
func (c *cli) inWorkspace(list []diagnostic.Report) []diagnostic.Report {
	root, _ := c.term.Lookup("GITHUB_WORKSPACE")
	if root == "" {
		return list
	}
	moved := slices.Clone(list)
	for i, r := range moved {
		if r.File == "stdin" {
			continue
		}
		moved[i].File = c.below(root, r.File)
		moved[i].Diagnostics = slices.Clone(r.Diagnostics)
		for k, d := range r.Diagnostics {
			if d.File != "" {
				moved[i].Diagnostics[k].File = c.below(root, d.File)
			}
		}
	}
	return moved
}

// below names a file relative to a folder above it, with slashes; otherwise it returns the name unchanged. A link may lead to either.
func (c *cli) below(root, file string) string {
	withoutLinks := func(dir string) string {
		if target, err := filepath.EvalSymlinks(dir); err == nil {
			return target
		}
		return dir
	}
	path := c.term.Path(file)
	for range 2 {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		root, path = withoutLinks(root), filepath.Join(withoutLinks(filepath.Dir(path)), filepath.Base(path))
	}
	return file
}
