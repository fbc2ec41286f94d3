// Package scaffold creates sites, from a template or around existing files, and sets up editors.
//
// Input: a folder, a terminal to ask and to print on, and Options. Output: files and a report of them. It finds all conflicts before it
// writes the first file, and overwrites no existing file. An error is a *failure.Error or a *failure.RefusedError. It reads no flags, and
// runs no program.
package scaffold

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/framework"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// Init creates or adopts a site, and reports the written files. It detects all conflicts before it writes the first file.
func Init(ctx context.Context, t *terminal.Terminal, o Options) error {
	dir := o.Dir
	s := &site{Options: o, term: t, dir: dir, title: starter.SiteName(filepath.Base(dir)), secrets: map[string]string{}}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "not-a-folder", Message: fmt.Sprintf("%s is not a folder", wording.QuotePath(t.Shown(dir))),
			Fix: "name a folder for the site: pages init DIR",
		}
	}
	if what := specialFolder(dir); what != "" && !o.Named && !userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "not-a-site-folder",
			Message: fmt.Sprintf("this is %s, and a site needs its own folder", what),
			Fix:     "name one for the site: pages init my-site; or pages init . for this folder",
		}
	}
	if err := s.choose(ctx); err != nil {
		return err
	}
	if err := s.parse(); err != nil {
		return err
	}
	return s.write()
}

// specialFolder names a folder that no site should take by accident: the user's home, or the root of the file system. It
// returns "" for any other.
func specialFolder(dir string) string {
	if filepath.Dir(dir) == dir {
		return "the root of the file system"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	is, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if whose, err := os.Stat(home); err == nil && os.SameFile(is, whose) {
		return "your home folder"
	}
	return ""
}

// choose decides between a template and the existing files.
func (s *site) choose(ctx context.Context) error {
	if err := s.detect(ctx); err != nil {
		return err
	}
	switch {
	case s.Template != "" && s.adopted == manifest.FileName:
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "site-exists",
			Message: fmt.Sprintf("there is a site in %s already", wording.QuotePath(s.term.Shown(s.dir))),
			Fix:     "leave --template out to add the missing files, or name another folder",
		}
	case s.Template != "":
		t, ok := starter.Find(s.Template)
		if !ok {
			return failure.Usage("--template is %q; it must be one of %s", s.Template, strings.Join(TemplateNames(), ", "))
		}
		if f, ok := framework.Find(userfile.RegularFS{FS: os.DirFS(s.dir)}); ok {
			return s.refuseTemplate(f.Name)
		}
		s.begin(t)
		return s.chooseEditors(s.Editors)
	case s.unbuilt, s.Yes && s.adopted == "" && s.buildCommand() != "":
		return s.needsBuild()
	case s.Yes && s.adopted == "":
		t, _ := starter.Find("static")
		s.begin(t)
		return s.chooseEditors(s.Editors)
	case s.Yes:
		return s.chooseEditors(s.Editors)
	case !s.term.Interactive():
		fix := "pass --template with one of " + strings.Join(TemplateNames(), ", ")
		if s.adopted != "" {
			fix = "pass --yes to adopt " + s.adopted + ", or --template to start a new site"
		}
		return &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: s.term.Unattended(), Fix: fix}
	}
	return s.ask(ctx)
}

// parse reads the manifest that the site has or gets.
func (s *site) parse() error {
	var report diagnostic.Report
	source := s.manifest
	if source == nil {
		s.parsed, report, source = s.Load(s.dir)
		if s.parsed == nil && s.setup != nil && lacksOutput(report) {
			s.parsed, _ = manifest.Parse(manifest.FileName, source) // the build will make its files
		}
	} else {
		var diags diagnostic.List
		s.parsed, diags = manifest.Parse(manifest.FileName, source)
		report = diagnostic.NewReport(s.term.Shown(filepath.Join(s.dir, manifest.FileName)), diags)
	}
	if s.parsed == nil {
		return &failure.RefusedError{Report: report, Source: source}
	}
	return nil
}

// TemplateNames lists the templates.
func TemplateNames() (names []string) {
	for _, t := range starter.Templates() {
		names = append(names, t.Name)
	}
	return names
}

// TemplateHelp returns a line for each template, for the command's help.
func TemplateHelp() string {
	var b strings.Builder
	for _, t := range starter.Templates() {
		fmt.Fprintf(&b, "  %-10s %s\n", t.Name, t.About)
	}
	return b.String()
}

// ask asks a person for the template and the editors.
func (s *site) ask(ctx context.Context) error {
	if s.adopted != "" {
		what := "Adopt " + s.adopted + "?"
		if s.adopted == manifest.FileName {
			what = "Add the missing files to this site?"
		} else if s.setup != nil {
			what = "This is a project of " + s.setup.Framework + ", which is not built yet. Set it up?"
		}
		answer, err := s.term.Choose(ctx, what, []string{"yes", "no"}, 0)
		if err != nil {
			return err
		}
		if answer == 0 {
			return s.askEditors(ctx)
		}
		if s.adopted == manifest.FileName || s.setup != nil {
			return &failure.Error{Exit: failure.ExitRefused, Code: "declined", Message: "nothing was written"}
		}
	}
	if s.adopted == "" && s.buildCommand() != "" {
		unbuilt := s.needsBuild()
		answer, err := s.term.Choose(ctx, unbuilt.Error()+". Stop, and build it first?", []string{"yes", "no"}, 0)
		if err != nil {
			return err
		}
		if answer == 0 {
			return unbuilt
		}
	}
	return s.askTemplate(ctx)
}

// askTemplate asks for the template, the name of the site, and the editors. The answer "back" returns to the question before.
func (s *site) askTemplate(ctx context.Context) error {
	templates := starter.Templates()
	lines := make([]string, len(templates))
	for i, t := range templates {
		lines[i] = fmt.Sprintf("%-10s %s", t.Name, t.About)
	}
	var chosen starter.Template
	steps := []func() error{
		func() error {
			n, err := s.term.Choose(ctx, "Which template? (a number or the first letters; Ctrl-C stops, and nothing is written)", lines, 0)
			if err == nil {
				chosen = templates[n]
			}
			return err
		},
		func() error {
			title, err := s.term.AskOrBack(ctx, "Name of the site", s.title)
			if err == nil {
				s.title = wording.Printable(title)
			}
			return err
		},
		func() error {
			s.begin(chosen)
			return s.askEditors(ctx)
		},
	}
	for i := 0; i < len(steps); {
		switch err := steps[i](); {
		case errors.Is(err, terminal.ErrBack):
			i--
		case err != nil:
			return err
		default:
			i++
		}
	}
	return nil
}

func (s *site) askEditors(ctx context.Context) error {
	if len(s.Editors) > 0 {
		return s.chooseEditors(s.Editors)
	}
	choices := slices.Concat(EditorNames(), []string{"none"})
	choose := s.term.Choose
	if s.template != "" {
		choose = s.term.ChooseOrBack
	}
	n, err := choose(ctx, "Which editor?", choices, 0)
	if err != nil {
		return err
	}
	return s.chooseEditors(choices[n : n+1])
}
