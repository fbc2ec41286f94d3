package migration

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

// RunReport is the output of `pages migrate --json`.
type RunReport struct {
	OK        bool     `json:"ok"`
	Database  string   `json:"database"`
	Applied   []Item   `json:"applied"`
	Squashed  []string `json:"squashed,omitempty"`
	Failed    string   `json:"failed,omitempty"`
	Remaining []string `json:"remaining,omitempty"`
	Warnings  []string `json:"warnings"`
}

// Item is a migration in the ledger.
type Item struct {
	Name       string  `json:"name"`
	SHA256     string  `json:"sha256"`
	Position   int     `json:"position"`
	AppliedAt  string  `json:"applied_at"`
	DurationMS float64 `json:"duration_ms"`
	Tool       string  `json:"tool"`
}

func items(entries []migrate.Entry) []Item {
	list := []Item{}
	for _, e := range entries {
		list = append(list, Item{e.Name, e.SHA256, e.Position, wording.Timestamp(e.AppliedAt), e.DurationMS, e.Tool})
	}
	return list
}

// Apply applies the pending migrations.
func (s *Site) Apply(ctx context.Context, allowOutOfOrder bool) error {
	progress, stop := watchProgress(s.term)
	defer stop()
	return s.Write(ctx, migrate.Options{AllowOutOfOrder: allowOutOfOrder, Progress: progress}, func(m *migrate.Migrator) error {
		if !s.term.JSON {
			s.warnOfDownSections(ctx, m)
		}
		result, err := m.Apply(ctx)
		stop()
		if !s.term.JSON {
			result.Warnings = slices.DeleteFunc(result.Warnings, isDownSection)
		}
		return s.printRun(result, err)
	})
}

func isDownSection(n migrate.Notice) bool { return n.Code == migrate.CodeDownSection }

// warnOfDownSections warns of parts of pending files that would undo them. Apply reports other faults.
func (s *Site) warnOfDownSections(ctx context.Context, m *migrate.Migrator) {
	status, err := m.Status(ctx)
	if err != nil {
		return
	}
	pending := func(n migrate.Notice) bool {
		return slices.ContainsFunc(status.Pending, func(f migrate.File) bool { return f.Name == n.Name })
	}
	s.term.ProgressWarnings(s.warnings(slices.DeleteFunc(status.Warnings, func(n migrate.Notice) bool {
		return !isDownSection(n) || !pending(n)
	})))
}

// Reset creates the database again: empty, with all migrations applied.
func (s *Site) Reset(ctx context.Context) error {
	progress, stop := watchProgress(s.term)
	defer stop()
	return s.Write(ctx, migrate.Options{Progress: progress}, func(m *migrate.Migrator) error {
		result, err := m.Reset(ctx)
		stop()
		if err != nil && result.Failed != "" && !s.term.JSON {
			fmt.Fprintln(s.term.Stderr, "the database is unchanged")
			return err
		}
		return s.printRun(result, err)
	})
}

// printRun prints the report of a run, also of a failed one.
func (s *Site) printRun(result migrate.Result, err error) error {
	doc := RunReport{
		OK: err == nil, Database: s.Path, Applied: items(result.Applied), Squashed: result.Squashed,
		Failed: result.Failed, Remaining: result.Remaining, Warnings: s.warnings(result.Warnings),
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
		}
		return s.printFailed(err, doc)
	}
	for _, a := range result.Applied {
		s.term.Progress("applied %s", a.Name)
	}
	for _, name := range result.Squashed {
		s.term.Progress("recorded %s in place of the migrations that it replaces", name)
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err != nil {
		stands := result.Stands()
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(s.term.Stderr, strings.TrimSuffix("stopped; "+stands, "; "))
		} else if stands != "" {
			fmt.Fprintln(s.term.Stderr, stands)
		}
		return err
	}
	if len(result.Applied)+len(result.Squashed) == 0 {
		s.printNothingPending()
	}
	return nil
}

// printNothingPending prints that no migration is pending, and whether the site has a folder of migrations at all.
func (s *Site) printNothingPending() {
	if s.Manifest.Bindings.Database.Migrations == "" {
		s.term.Progress("nothing to apply: the manifest names no folder of migrations")
		return
	}
	s.term.Progress("nothing to apply")
}

// Warnings writes notices as lines, with paths as the user would write them.
func Warnings(work userfile.WorkDir, dir string, notices []migrate.Notice) []string {
	lines := []string{}
	for _, n := range notices {
		at := n.Name
		if n.Pos.IsValid() {
			at = work.Rel(filepath.Join(dir, n.Pos.Filename)) + fmt.Sprintf(":%d:%d", n.Pos.Line, n.Pos.Column)
		}
		lines = append(lines, fmt.Sprintf("%s: %s [%s]", at, n.Msg, n.Code))
	}
	return lines
}

func (s *Site) warnings(notices []migrate.Notice) []string {
	return Warnings(userfile.WorkDir(s.term.Dir), s.Dir, notices)
}

const (
	progressAfter = time.Second // a shorter run ends before a person could read it
	progressEvery = 100 * time.Millisecond
)

// watchProgress shows the progress of a longer run on a terminal. stop removes the line; it may be called twice.
func watchProgress(t *terminal.Terminal) (report func(migrate.Progress), stop func()) {
	if t.JSON || t.Quiet || !terminal.IsTerminal(t.Stderr) {
		return nil, func() {}
	}
	var mu sync.Mutex
	var now migrate.Progress
	begin := t.Now()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		shown := false
		for {
			select {
			case <-ended:
				if shown {
					fmt.Fprint(t.Stderr, "\r\x1b[K")
				}
				return
			case <-ticker.C:
			}
			mu.Lock()
			p := now
			mu.Unlock()
			if took := t.Now().Sub(begin); took >= progressAfter && p.Total > 0 {
				shown = true
				fmt.Fprintf(t.Stderr, "\r\x1b[K[%d/%d] %s  %.1f s", p.Done+1, p.Total, p.Name, took.Seconds())
			}
		}
	}()
	report = func(p migrate.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now = p
	}
	return report, sync.OnceFunc(func() { close(ended); <-done })
}
