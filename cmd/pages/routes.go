package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/routing"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newRoutes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "routes [DIR]",
		Short: "List the routes of the manifest, the most specific first, and what answers them",
		Long: "List the routes of the manifest, the most specific first, and what answers them.\n\n" +
			"The most specific pattern that covers a path counts, wherever it stands in the\nmanifest. No code is run and nothing is compiled.\n\n" +
			"Exit codes: 0 listed, 1 the manifest or a static file was refused, 2 wrong usage.",
		Example: "  pages routes\n  pages routes sites/club --json\n  pages routes explain GET /club/crews",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := routing.Load(cmd.Context(), c.sites(), args, project.EdgeRulesOn)
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

// routesDoc is what `pages routes --json` prints.
type routesDoc struct {
	OK bool `json:"ok"`
	site.Listing
}
