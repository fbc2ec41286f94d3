package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi/service"
)

func (c *cli) newPlatformWorkspaces(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "workspaces",
		Short:   "Make and list workspaces of the local service",
		Example: "  pages platform workspaces create acme --name 'Acme Studio' --time-zone Europe/Berlin\n  pages platform workspaces list",
		Args:    cobra.NoArgs,
		RunE:    help,
	}
	var w service.Workspace
	create := &cobra.Command{
		Use:     "create SLUG",
		Short:   "Make a workspace",
		Long:    "Make a workspace.\n\nExit codes: 0 made, 1 there is one of this slug, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform workspaces create acme --time-zone Europe/Berlin",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Slug = args[0]
			return c.changed(c.beginData(cmd.Context(), f, func(s *service.Service) error { return s.CreateWorkspace(cmd.Context(), w) }))
		},
	}
	create.Flags().StringVar(&w.Name, "name", "", "`name` for people (default: the slug)")
	create.Flags().StringVar(&w.TimeZone, "time-zone", "UTC", "IANA `name` of the zone of its schedule")
	list := &cobra.Command{
		Use:     "list",
		Short:   "List the workspaces",
		Long:    "List the workspaces.\n\nExit codes: 0 done, 1 there is no service's data, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform workspaces list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withData(cmd.Context(), f, func(s *service.Service) error { return c.listWorkspaces(cmd, s) })
		},
	}
	cmd.AddCommand(create, list)
	return cmd
}

func (c *cli) listWorkspaces(cmd *cobra.Command, s *service.Service) error {
	all, err := s.Workspaces(cmd.Context())
	if err != nil {
		return err
	}
	rows := make([]shownWorkspace, len(all))
	for i, w := range all {
		rows[i] = shownWorkspace(w)
	}
	if c.term.JSON {
		c.term.PrintJSON(workspacesDoc{rows})
		return nil
	}
	for _, w := range rows {
		fmt.Fprintf(c.term.Stdout, "%s  %s  %s\n", w.Slug, w.Name, w.TimeZone)
	}
	return nil
}

// workspacesDoc is what `pages platform workspaces list --json` prints.
type workspacesDoc struct {
	Workspaces []shownWorkspace `json:"workspaces"`
}

type shownWorkspace struct {
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	TimeZone string `json:"time_zone"`
}
