package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/routing"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newRoutes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "routes [DIR]",
		Short: "List the routes of the manifest, the most specific first, and what answers them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := routing.Load(cmd.Context(), c.sites(), args)
			if err != nil {
				return err
			}
			listing := s.Routing.Routes()
			if c.term.JSON {
				c.term.PrintJSON(routesDoc{OK: true, Listing: listing})
				return nil
			}
			return routing.WriteTable(c.term.Stdout, listing, s.Manifest)
		},
	}
	cmd.AddCommand(c.newRoutesExplain())
	return cmd
}

// routesDoc is the output of `pages routes --json`.
type routesDoc struct {
	OK bool `json:"ok"`
	site.Listing
}

func (c *cli) newRoutesExplain() *cobra.Command {
	var persona, rules string
	cmd := &cobra.Command{
		Use:   "explain [METHOD] PATH-or-URL [DIR]",
		Short: "Show the path of a request: pattern, gate, Worker, file or 404, and why",
		Args:  cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := routing.ReadQuestion(args)
			if err != nil {
				return err
			}
			dir, missing := c.sites().Find(q.Dir)
			who, err := visitorOf(dir, persona)
			if err := cmp.Or(err, missing); err != nil {
				return err
			}
			if rules != project.EdgeRulesOn && rules != project.EdgeRulesOff {
				return failure.Usage("--edge-rules is %q; it must be on or off", rules)
			}
			c.edgeRules = rules
			s, err := routing.Load(cmd.Context(), c.sites(), q.Dir)
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

// explanationDoc is the output of `pages routes explain --json`.
type explanationDoc struct {
	OK bool `json:"ok"`
	site.Explanation
}

// visitorOf returns the visitor for a persona of a site.
func visitorOf(dir, persona string) (site.Visitor, error) {
	if persona == string(site.VisitorSignedOut) {
		return site.VisitorSignedOut, nil
	}
	p, ok := project.PersonaOf(dir, persona)
	switch {
	case !ok:
		return "", failure.Usage("--as is %q; it must be one of signed-out, %s", persona, strings.Join(project.PersonaKeys(dir), ", "))
	case p.Outsider:
		return site.VisitorOutsider, nil
	}
	return site.VisitorMember, nil
}
