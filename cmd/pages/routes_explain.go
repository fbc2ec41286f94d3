package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newRoutesExplain() *cobra.Command {
	var persona, rules string
	cmd := &cobra.Command{
		Use:   "explain [METHOD] PATH-or-URL [DIR]",
		Short: "Say what a request meets: pattern, gate, Worker, file or 404, and why",
		Long: "Say what a request meets: pattern, gate, Worker, file or 404, and why.\n\n" +
			"METHOD is GET unless it is given, in any case. Of a URL, path and query count,\nthe host does not. The answer is the one that pages dev gives, found by the same\ncode; the Worker is neither compiled nor asked.\n\n" +
			"Exit codes: 0 explained, also when the answer is a no; 1 the manifest or a\nstatic file was refused; 2 wrong usage.",
		Example: "  pages routes explain GET /club/crews\n  pages routes explain POST /api/outings --as member\n" +
			"  pages routes explain http://localhost:8788/about sites/club --json",
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := readQuestion(args)
			if err != nil {
				return err
			}
			dir, missing := c.sites().Find(q.dir)
			who, err := visitor(dir, persona)
			if err := cmp.Or(err, missing, checkEdgeRules(rules)); err != nil {
				return err
			}
			s, err := c.loadRouting(cmd.Context(), q.dir, rules)
			if err != nil {
				return err
			}
			e := s.explain(q, who)
			if c.term.JSON {
				c.term.PrintJSON(explanationDoc{OK: true, Explanation: e})
				return nil
			}
			c.printExplanation(e, s.manifest.Entry, persona)
			return nil
		},
	}
	cmd.Flags().StringVar(&persona, "as", string(site.VisitorSignedOut), "`persona` that asks: signed-out, member, owner, outsider, or one of .pages/members.json")
	cmd.Flags().StringVar(&rules, "edge-rules", project.EdgeRulesOn, edgeRulesUsage)
	return cmd
}

// explanationDoc is what `pages routes explain --json` prints.
type explanationDoc struct {
	OK bool `json:"ok"`
	site.Explanation
}

// visitor is who asks when a persona of a site does.
func visitor(dir, persona string) (site.Visitor, error) {
	if persona == string(site.VisitorSignedOut) {
		return site.VisitorSignedOut, nil
	}
	p, ok := project.PersonaOf(dir, persona)
	switch {
	case !ok:
		return "", failure.Usage("--as is %q; it is one of signed-out, %s", persona, project.PersonaKeys(dir))
	case p.Outsider:
		return site.VisitorOutsider, nil
	}
	return site.VisitorMember, nil
}

// explain adds what only a build could tell.
func (s *routed) explain(q question, who site.Visitor) site.Explanation {
	e := s.routing.Explain(q.method, q.target, who)
	if s.unsure[e.File] {
		e.Why = append(e.Why, e.File+" is no static file if the Worker imports it: only a build can tell")
	}
	return e
}

// printExplanation prints the facts one a line, and the reasons below.
func (c *cli) printExplanation(e site.Explanation, entry, persona string) {
	as := persona
	if as == string(site.VisitorSignedOut) {
		as = "a signed-out visitor"
	}
	target := e.Target
	if !strconv.CanBackquote(target) { // a control character is for no terminal
		target = strconv.Quote(target)
	}
	fmt.Fprintf(c.term.Stdout, "%s %s as %s\n\n", e.Method, target, as)
	answer := string(e.Answer)
	if e.Answer == site.AnswerWorker {
		answer += " " + entry
	}
	if e.Gate == site.GateSignIn || e.Gate == site.GateForbidden {
		answer += ", behind the gate"
	}
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	pattern := e.Pattern
	if pattern == "" && e.Access != "" {
		pattern = "none"
	}
	for _, fact := range []struct{ name, value string }{
		{"path", e.Path},
		{"pattern", pattern},
		{"access", string(e.Access)},
		{"gate", string(e.Gate)},
		{"answer", answer},
		{"file", e.File},
		{"rule", e.Rule},
		{"location", e.Location},
		{"status", status},
	} {
		if fact.value != "" {
			fmt.Fprintf(c.term.Stdout, "%-9s %s\n", fact.name, fact.value)
		}
	}
	for _, header := range e.Headers {
		fmt.Fprintf(c.term.Stdout, "%-9s %s\n", "header", header)
	}
	fmt.Fprintln(c.term.Stdout, "\nwhy")
	for _, reason := range e.Why {
		fmt.Fprintf(c.term.Stdout, "  - %s\n", reason)
	}
}
