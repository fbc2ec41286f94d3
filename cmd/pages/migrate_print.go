package main

import (
	"fmt"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

// migrationDoc is what `pages migrate --json` prints.
type migrationDoc struct {
	OK        bool            `json:"ok"`
	Database  string          `json:"database"`
	Applied   []migrationItem `json:"applied"`
	Squashed  []string        `json:"squashed,omitempty"`
	Failed    string          `json:"failed,omitempty"`
	Remaining []string        `json:"remaining,omitempty"`
	Warnings  []string        `json:"warnings"`
}

type migrationItem struct {
	Name       string  `json:"name"`
	SHA256     string  `json:"sha256"`
	Position   int     `json:"position"`
	AppliedAt  string  `json:"applied_at"`
	DurationMS float64 `json:"duration_ms"`
	Tool       string  `json:"tool"`
}

func items(entries []migrate.Entry) []migrationItem {
	list := []migrationItem{}
	for _, e := range entries {
		list = append(list, migrationItem{e.Name, e.SHA256, e.Position, wording.Timestamp(e.AppliedAt), e.DurationMS, e.Tool})
	}
	return list
}

// printApplied tells of a run, also of one that failed.
func (s *migrations) printApplied(result migrate.Result, err error) error {
	doc := migrationDoc{
		OK: err == nil, Database: s.path, Applied: items(result.Applied), Squashed: result.Squashed,
		Failed: result.Failed, Remaining: result.Remaining, Warnings: s.warnings(result.Warnings),
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
		}
		return s.withDoc(err, doc)
	}
	for _, a := range result.Applied {
		s.term.Progress("applied %s", a.Name)
	}
	for _, name := range result.Squashed {
		s.term.Progress("recorded %s in the place of the migrations it stands for", name)
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err != nil {
		if stands := result.Stands(); stands != "" {
			fmt.Fprintln(s.term.Stderr, stands)
		}
		return err
	}
	if len(result.Applied)+len(result.Squashed) == 0 {
		s.nothingToApply()
	}
	return nil
}

// nothingToApply says so, and why where there can be nothing.
func (s *migrations) nothingToApply() {
	if s.m.Bindings.Database.Migrations == "" {
		s.term.Progress("nothing to apply: the manifest names no folder of migrations")
		return
	}
	s.term.Progress("nothing to apply")
}

// warnings are notices as lines, with the files as the user would name them.
func (s *migrations) warnings(notices []migrate.Notice) []string {
	lines := []string{}
	for _, n := range notices {
		at := n.Name
		if n.Pos.IsValid() {
			at = s.term.Shown(filepath.Join(s.dir, n.Pos.Filename)) + fmt.Sprintf(":%d:%d", n.Pos.Line, n.Pos.Column)
		}
		lines = append(lines, fmt.Sprintf("%s: %s [%s]", at, n.Msg, n.Code))
	}
	return lines
}
