package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// asker asks on the terminal: questions on stderr, answers from stdin.
type asker struct {
	*cli
	answers *bufio.Reader
}

// ask asks what to begin with and for which editors.
func (s *newSite) ask(ctx context.Context, f *initFlags) error {
	q := &asker{cli: s.cli, answers: bufio.NewReader(newInterruptible(ctx, s.stdin))}
	names := templateNames()
	if s.adopted != "" {
		what := "adopt " + s.adopted
		if s.adopted == manifest.FileName {
			what = "add what is missing to the site that is here"
		}
		yes, err := q.choose(fmt.Sprintf("Shall I %s?", what), []string{"yes", "no"}, "yes")
		if err != nil {
			return err
		}
		if yes == "no" && s.adopted == manifest.FileName {
			return &failure{code: exitRefused, id: "declined", msg: "nothing was written"}
		}
		if yes == "yes" {
			return s.askEditors(q, f)
		}
	}
	fmt.Fprintf(s.stderr, "What shall the site begin with?\n%s", templateHelp())
	name, err := q.choose("Template", names, names[0])
	if err != nil {
		return err
	}
	t, _ := starter.Find(name)
	s.begin(t)
	return s.askEditors(q, f)
}

func (s *newSite) askEditors(q *asker, f *initFlags) error {
	if len(f.editors) > 0 {
		return s.chooseEditors(f.editors)
	}
	choices := append(editorNames(), "none")
	name, err := q.choose("Editor to set up", choices, choices[0])
	if err != nil {
		return err
	}
	return s.chooseEditors([]string{name})
}

// choose asks until the answer is one of the choices, or the beginning of just
// one. An empty answer is the usual one.
func (q *asker) choose(question string, choices []string, usual string) (string, error) {
	for {
		fmt.Fprintf(q.stderr, "%s (%s) [%s]: ", question, strings.Join(choices, ", "), usual)
		line, err := q.answers.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return "", &failure{code: exitPerson, id: "choice-needed", msg: "the question was not answered, and nothing was written"}
		}
		if err != nil {
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "" {
			return usual, nil
		}
		var meant []string
		for _, c := range choices {
			if strings.HasPrefix(c, answer) {
				meant = append(meant, c)
			}
		}
		if slices.Contains(meant, answer) {
			return answer, nil
		}
		if len(meant) == 1 {
			return meant[0], nil
		}
		fmt.Fprintf(q.stderr, "%q is none of them\n", answer)
	}
}
