package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// This file reports to GitHub Actions: where its runner collects summaries, and
// from where GitHub reads the names of files.

// writeGitHub writes annotations, and the list where GitHub collects summaries.
// A summary that cannot be written says nothing about the site: it is a warning.
func (c *cli) writeGitHub(list []diagnostic.Report) error {
	path, _ := c.term.Lookup("GITHUB_STEP_SUMMARY")
	summarized := path != ""
	if summarized {
		if err := appendSummary(path, list); err != nil {
			summarized = false
			c.term.Warn("the step summary cannot be written: %s", err)
		}
	}
	return diagnostic.WriteGitHub(c.term.Stdout, summarized, list...)
}

func appendSummary(path string, list []diagnostic.Report) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(diagnostic.WriteGitHubSummary(f, list...), f.Close())
}

// inWorkspace names files from the root of the checkout, as GitHub reads them,
// when a runner tells where that is: a step may have another working directory.
// What is elsewhere keeps its name.
func (c *cli) inWorkspace(list []diagnostic.Report) []diagnostic.Report {
	root, _ := c.term.Lookup("GITHUB_WORKSPACE")
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
	path := c.term.Path(file)
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
