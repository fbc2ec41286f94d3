package scaffold

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// Document is the output of `pages init --json`.
type Document struct {
	OK       bool            `json:"ok"`
	Site     string          `json:"site"`     // its folder
	Template string          `json:"template"` // empty for an adopted site
	Adopted  string          `json:"adopted"`  // names an adopted site: its manifest, configuration, built folder or framework
	Files    []WrittenFile   `json:"files"`
	Notes    []wrangler.Note `json:"notes"`  // on settings without a counterpart here
	SetUp    *SetUp          `json:"set_up"` // of a project that its framework has not built; null for others
	Next     []string        `json:"next"`   // commands
}

// finish reports the written files and the next steps, and checks the site as pages validate would.
func (s *site) finish(own, around planned) error {
	m, report, source := s.Load(s.dir)
	awaited := s.setup != nil && m == nil && lacksOutput(report) // the build will make its files
	if s.term.JSON {
		if m == nil && !awaited {
			return &failure.RefusedError{Report: report, Source: source}
		}
		s.term.PrintJSON(Document{
			OK: true, Site: filepath.ToSlash(s.term.Shown(s.dir)), Template: s.template, Adopted: s.adopted,
			Files: append(own.fileList(s.term), around.fileList(s.term)...), Notes: append([]wrangler.Note{}, s.notes...),
			SetUp: s.setUpDocument(), Next: s.next(),
		})
		return nil
	}
	own.print(s.term)
	around.print(s.term)
	around.printNotes(s.term)
	for _, n := range s.notes {
		if n.Effect != wrangler.Unneeded || s.term.Verbose {
			s.term.Progress("%s %s: %s", s.term.Paint("33", string(n.Effect)), n.Key, n.Text)
		}
	}
	s.printSetUp()
	command := ""
	if s.isBuilt() {
		command = s.buildCommand()
	}
	if m == nil && !awaited {
		if command != "" && lacksOutput(report) {
			s.term.Progress("next: %s", strings.Join(s.next(), wording.AndThen))
		}
		return &failure.RefusedError{Report: report, Source: source}
	}
	if len(report.Diagnostics) > 0 && !s.term.Quiet && !awaited {
		s.term.PrintDiagnostics(report, source)
	}
	if command != "" {
		s.term.Progress("pages dev shows what `%s` makes, and again after each build", command)
	}
	s.term.Progress("next: %s", strings.Join(s.next(), wording.AndThen))
	return nil
}

// lacksOutput reports whether a site is refused only because of files that its build may make.
func lacksOutput(report diagnostic.Report) bool {
	return !slices.ContainsFunc(report.Diagnostics, func(d diagnostic.Diagnostic) bool {
		return d.Severity == diagnostic.Error && d.Code != diagnostic.CodePathMissing
	})
}

// next returns the commands that show the site.
func (s *site) next() (commands []string) {
	if s.dir != s.term.Dir {
		commands = append(commands, "cd "+wording.ShellWord(s.term.Shown(s.dir)))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "node_modules")); err != nil && s.hasPackages() {
		commands = append(commands, packager.Of(s.dir).Install())
	}
	if s.setup != nil {
		if len(s.setup.Packages) > 0 {
			commands = append(commands, packager.Of(s.dir).AddForDevelopment(strings.Join(s.setup.Packages, " ")))
		}
		if s.setup.Command != "" {
			commands = append(commands, s.setup.Command)
		}
		if server, ok := starter.FindDevServer(userfile.RegularFS{FS: os.DirFS(s.dir)}); ok {
			return append(commands, "pages dev -- "+packager.Of(s.dir).Run(server.Script))
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(s.parsed.Assets))); err != nil && s.isBuilt() {
		commands = append(commands, s.buildCommand())
	}
	return append(commands, "pages dev")
}
