package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
)

// This file reports to GitHub Actions: where its runner collects summaries, and
// from where GitHub reads the names of files.

// writeGitHub writes annotations, and the list where GitHub collects summaries.
// A summary that cannot be written says nothing about the site: it is a warning.
func (c *cli) writeGitHub(list []manifest.Report) error {
	path, _ := c.lookup("GITHUB_STEP_SUMMARY")
	summarized := path != ""
	if summarized {
		if err := appendSummary(path, list); err != nil {
			summarized = false
			c.warn("the step summary cannot be written: %s", err)
		}
	}
	return manifest.WriteGitHub(c.stdout, summarized, list...)
}

func appendSummary(path string, list []manifest.Report) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(manifest.WriteGitHubSummary(f, list...), f.Close())
}

// warn tells of what went wrong beside the result. Quiet does not silence it.
func (c *cli) warn(format string, args ...any) {
	fmt.Fprintf(c.stderr, "%s "+format+"\n", append([]any{c.paint("33", "warning:")}, args...)...)
}

// inWorkspace names files from the root of the checkout, as GitHub reads them,
// when a runner tells where that is: a step may have another working directory.
// What is elsewhere keeps its name.
func (c *cli) inWorkspace(list []manifest.Report) []manifest.Report {
	root, _ := c.lookup("GITHUB_WORKSPACE")
	if root == "" {
		return list
	}
	moved := slices.Clone(list)
	for i, r := range moved {
		if r.File == "stdin" { // no file, as stream names it
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

// below names a file relative to a folder that it is in, slash separated, or as
// before. Either may be named by way of a link.
func (c *cli) below(root, file string) string {
	path := c.path(file)
	for range 2 {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		root, path = withoutLinks(root), filepath.Join(withoutLinks(filepath.Dir(path)), filepath.Base(path))
	}
	return file
}

// withoutLinks is the real name of a folder, as far as it exists.
func withoutLinks(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return dir
}
