package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/platform"
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
			return c.changed(platform.Begin(cmd.Context(), f.at(c), c.term.Now, func(s *service.Service) error {
				return s.CreateWorkspace(cmd.Context(), w)
			}))
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
			var list platform.WorkspaceList
			err := f.operate(cmd.Context(), c, func(s *service.Service) (err error) {
				list, err = platform.Workspaces(cmd.Context(), s)
				return err
			})
			return printList(c, err, list, list.Workspaces, func(w platform.Workspace) string {
				return fmt.Sprintf("%s  %s  %s", w.Slug, w.Name, w.TimeZone)
			})
		},
	}
	cmd.AddCommand(create, list)
	return cmd
}
