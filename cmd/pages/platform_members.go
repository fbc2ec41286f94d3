package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func (c *cli) newPlatformMembers(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "members",
		Short: "Add, list and remove members of workspaces of the local service",
		Example: "  pages platform members add ana@acme.test --workspace acme --role owner\n  pages platform members " +
			"add ci@acme.test --workspace acme --service-account\n  pages platform members remove ana@acme.test --workspace acme",
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(c.newMembersAdd(f), c.newMembersRemove(f), c.newMembersList(f))
	return cmd
}

func (c *cli) newMembersAdd(f *platformFlags) *cobra.Command {
	var m service.Member
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Make someone a member of a workspace, or give a member another role",
		Long: "Make someone a member of a workspace, or give a member another role. A service\naccount proposes " +
			"what needs a person's go-ahead, and never confirms it.\n\nExit codes: 0 done, 1 there is no such " +
			"workspace, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform members add ana@acme.test --workspace acme --role owner",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.Email = args[0]
			return c.changed(f.operate(cmd.Context(), c, func(s *service.Service) error { return s.AddMember(cmd.Context(), m) }))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&m.Workspace, "workspace", "", "`slug` of the workspace")
	flags.StringVar(&m.Role, "role", "owner", "`role` there: owner, editor, viewer")
	flags.StringVar(&m.Name, "name", "", "`name` for people (default: the email)")
	flags.BoolVar(&m.Service, "service-account", false, "a service account instead of a person")
	return cmd
}

func (c *cli) newMembersRemove(f *platformFlags) *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use:   "remove EMAIL",
		Short: "End a membership, and at once the reach of the member's keys",
		Long: "End a membership, and at once the reach of the member's keys.\n\nExit codes: 0 done, 1 there is no " +
			"such member, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform members remove ana@acme.test --workspace acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changed(f.operate(cmd.Context(), c, func(s *service.Service) error {
				return s.RemoveMember(cmd.Context(), args[0], workspace)
			}))
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "`slug` of the workspace")
	return cmd
}

func (c *cli) newMembersList(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List who belongs to which workspace",
		Long: "List who belongs to which workspace.\n\nExit codes: 0 done, 1 there is no service's data, 2 wrong " +
			"usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform members list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list platform.MemberList
			err := f.operate(cmd.Context(), c, func(s *service.Service) (err error) {
				list, err = platform.Members(cmd.Context(), s)
				return err
			})
			return printList(c, err, list, list.Members, func(m platform.Member) string {
				return fmt.Sprintf("%s  %s  %s", m.Workspace, m.Email, m.Role)
			})
		},
	}
}
