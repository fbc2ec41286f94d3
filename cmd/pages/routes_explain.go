package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/routing"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newRoutesExplain() *cobra.Command {
	var persona, rules string
	cmd := &cobra.Command{
		Use:   "explain [METHOD] PATH-or-URL [DIR]",
		Short: "Say what a request meets: pattern, gate, Worker, file or 404, and why",
		Long: "Say what a request meets: pattern, gate, Worker, file or 404, and why.\n\n" +
			"METHOD is GET unless it is given, in any case. Of a URL, path and query count,\nthe host does not. The answer is the one that " +
			"pages dev gives, found by the same\ncode; the Worker is neither compiled nor asked.\n\n" +
			"Exit codes: 0 explained, also when the answer is a no; 1 the manifest or a\nstatic file was refused; 2 wrong usage.",
		Example: "  pages routes explain GET /club/crews\n  pages routes explain POST /api/outings --as member\n" +
			"  pages routes explain http://localhost:8788/about sites/club --json",
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := routing.ReadQuestion(args)
			if err != nil {
				return err
			}
			dir, missing := c.sites().Find(q.Dir)
			who, err := visitor(dir, persona)
			if err := cmp.Or(err, missing, checkEdgeRules(rules)); err != nil {
				return err
			}
			s, err := routing.Load(cmd.Context(), c.sites(), q.Dir, rules)
			if err != nil {
				return err
			}
			e := s.Explain(q, who)
			if c.term.JSON {
				c.term.PrintJSON(explanationDoc{OK: true, Explanation: e})
				return nil
			}
			routing.WriteExplanation(c.term.Stdout, e, s.Manifest.Entry, persona)
			return nil
		},
	}
	const usage = "`persona` that asks: signed-out, member, owner, outsider, or one of .pages/members.json"
	cmd.Flags().StringVar(&persona, "as", string(site.VisitorSignedOut), usage)
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
