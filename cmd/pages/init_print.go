package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// writtenFile is what became of a file, as --json has it.
type writtenFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, changed or unchanged
}

// written is what became of the files.
func (c *cli) written(p *projectFolder, files []*plannedFile) []writtenFile {
	list := make([]writtenFile, len(files))
	for i, f := range files {
		list[i] = writtenFile{filepath.ToSlash(c.term.Shown(p.path(f.name))), f.action()}
	}
	return list
}

func (c *cli) listWritten(p *projectFolder, files []*plannedFile) {
	for i, w := range c.written(p, files) {
		if w.Action == actionUnchanged {
			fmt.Fprintf(c.term.Stdout, "unchanged %s: %s\n", w.Path, files[i].same)
			continue
		}
		fmt.Fprintf(c.term.Stdout, "wrote %s\n", w.Path)
	}
}

// printNotes says what editors need besides their files.
func (c *cli) printNotes(files []*plannedFile) {
	for _, f := range files {
		if f.note != "" && f.action() != actionUnchanged {
			c.term.Progress("%s", f.note)
		}
	}
}

// initDoc is what `pages init --json` prints.
type initDoc struct {
	OK       bool            `json:"ok"`
	Site     string          `json:"site"`     // its folder
	Template string          `json:"template"` // empty for an adopted site
	Adopted  string          `json:"adopted"`  // what an adopted site was known by
	Files    []writtenFile   `json:"files"`
	Notes    []wrangler.Note `json:"notes"` // of what has no counterpart here
	Next     []string        `json:"next"`  // commands
}

// finish says what was written and what comes next, and checks the site as pages
// validate would.
func (s *newSite) finish(site *projectFolder, own []*plannedFile, top *projectFolder, around []*plannedFile) error {
	m, found := s.load(s.dir)
	if s.term.JSON {
		if m == nil {
			return &failure.RefusedError{Report: found.report, Source: found.src}
		}
		s.term.PrintJSON(initDoc{
			OK: true, Site: filepath.ToSlash(s.term.Shown(s.dir)), Template: s.template, Adopted: s.adopted,
			Files: append(s.written(site, own), s.written(top, around)...), Notes: append([]wrangler.Note{}, s.notes...), Next: s.next(),
		})
		return nil
	}
	s.listWritten(site, own)
	s.listWritten(top, around)
	s.printNotes(around)
	for _, n := range s.notes {
		if n.Effect != wrangler.Unneeded || s.term.Verbose {
			s.term.Progress("%s %s: %s", s.term.Paint("33", string(n.Effect)), n.Key, n.Text)
		}
	}
	command := ""
	if s.isBuilt() {
		command = s.buildCommand()
	}
	if m == nil {
		if command != "" {
			s.term.Progress("next: %s", strings.Join(s.next(), wording.AndThen))
		}
		return &failure.RefusedError{Report: found.report, Source: found.src}
	}
	if len(found.report.Diagnostics) > 0 && !s.term.Quiet {
		s.term.PrintDiagnostics(found.report, found.src)
	}
	if command != "" {
		s.term.Progress("pages dev shows what `%s` makes, and again after each build", command)
	}
	s.term.Progress("next: %s", strings.Join(s.next(), wording.AndThen))
	return nil
}

// next are the commands that show the site.
func (s *newSite) next() (commands []string) {
	if s.dir != s.term.Dir {
		commands = append(commands, "cd "+wording.ShellWord(s.term.Shown(s.dir)))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "node_modules")); err != nil && s.hasPackages() {
		commands = append(commands, packager.Of(s.dir).Install())
	}
	if _, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(s.parsed.Assets))); err != nil && s.isBuilt() {
		commands = append(commands, s.buildCommand())
	}
	return append(commands, "pages dev")
}
