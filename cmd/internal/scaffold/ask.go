package scaffold

import (
	"context"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// ask asks what to begin with and for which editors.
func (s *site) ask(ctx context.Context) error {
	if s.adopted != "" {
		what := "Adopt " + s.adopted + "?"
		if s.adopted == manifest.FileName {
			what = "Add what is missing to the site that is here?"
		}
		answer, err := s.term.Choose(ctx, what, []string{"yes", "no"}, 0)
		if err != nil {
			return err
		}
		if answer == 0 {
			return s.askEditors(ctx)
		}
		if s.adopted == manifest.FileName {
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
	templates := starter.Templates()
	lines := make([]string, len(templates))
	for i, t := range templates {
		lines[i] = fmt.Sprintf("%-10s %s", t.Name, t.About)
	}
	n, err := s.term.Choose(ctx, "What shall the site begin with?", lines, 0)
	if err != nil {
		return err
	}
	s.begin(templates[n])
	return s.askEditors(ctx)
}

func (s *site) askEditors(ctx context.Context) error {
	if len(s.Editors) > 0 {
		return s.chooseEditors(s.Editors)
	}
	choices := slices.Concat(EditorNames(), []string{"none"})
	n, err := s.term.Choose(ctx, "Which editor shall be set up?", choices, 0)
	if err != nil {
		return err
	}
	return s.chooseEditors(choices[n : n+1])
}
