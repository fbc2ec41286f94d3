package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func (c *cli) newPlatformMembers(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "members",
		Short: "Add, list and remove members of workspaces of the local service",
		Args:  cobra.NoArgs,
		RunE:  help,
	}
	cmd.AddCommand(c.newMembersAdd(f), c.newMembersRemove(f), c.newMembersList(f))
	return cmd
}

func (c *cli) newMembersAdd(f *platformFlags) *cobra.Command {
	var m service.Member
	cmd := &cobra.Command{
		Use:   "add EMAIL",
		Short: "Add a member to a workspace, or change a member's role",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.Email = args[0]
			return c.printDone(f.operate(cmd.Context(), c, func(s *service.Service) error { return s.AddMember(cmd.Context(), m) }))
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
		Short: "Remove a member from a workspace",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.printDone(f.operate(cmd.Context(), c, func(s *service.Service) error {
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
		Short: "List the members of workspaces",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := serviceResult(cmd.Context(), c, f, platform.Members)
			return printList(c, err, list, list.Members, func(m platform.Member) string {
				return fmt.Sprintf("%s  %s  %s", m.Workspace, m.Email, m.Role)
			})
		},
	}
}

func (c *cli) newPlatformWorkspaces(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspaces",
		Short: "Create and list workspaces of the local service",
		Args:  cobra.NoArgs,
		RunE:  help,
	}
	var w service.Workspace
	create := &cobra.Command{
		Use:   "create SLUG",
		Short: "Make a workspace",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Slug = args[0]
			return c.printDone(platform.Begin(cmd.Context(), f.at(c), c.term.Now, func(s *service.Service) error {
				return s.CreateWorkspace(cmd.Context(), w)
			}))
		},
	}
	create.Flags().StringVar(&w.Name, "name", "", "`name` for people (default: the slug)")
	create.Flags().StringVar(&w.TimeZone, "time-zone", "UTC", "IANA `name` of the zone of its schedule")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the workspaces",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := serviceResult(cmd.Context(), c, f, platform.Workspaces)
			return printList(c, err, list, list.Workspaces, func(w platform.Workspace) string {
				return fmt.Sprintf("%s  %s  %s", w.Slug, w.Name, w.TimeZone)
			})
		},
	}
	cmd.AddCommand(create, list)
	return cmd
}

func (c *cli) newPlatformKeys(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys of the local service",
		Args:  cobra.NoArgs,
		RunE:  help,
	}
	cmd.AddCommand(c.newKeysCreate(f), c.newKeysList(f), c.newKeysRevoke(f))
	return cmd
}

func (c *cli) newKeysCreate(f *platformFlags) *cobra.Command {
	var n service.NewKey
	cmd := &cobra.Command{
		Use:   "create EMAIL",
		Short: "Create a key for a member or a service account",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n.Life < 0 || n.PerMinute < 0 || n.PerMinute > platform.MaxRate {
				return failure.Usage("--expires and --rate-limit must not be negative, nor --rate-limit over %d", platform.MaxRate)
			}
			n.Holder = args[0]
			key, err := serviceResult(cmd.Context(), c, f, func(ctx context.Context, s *service.Service) (string, error) {
				return s.CreateKey(ctx, n)
			})
			return printList(c, err, newKeyDoc{key}, []string{key}, func(k string) string { return k })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Name, "name", "", "`name` of the key (default: key)")
	flags.StringVar(&n.Workspace, "workspace", "", "pin the key to the workspace with this `slug`")
	flags.DurationVar(&n.Life, "expires", 0, "`duration` for which the key is valid, such as 720h (default: until it is revoked)")
	flags.IntVar(&n.PerMinute, "rate-limit", 0, "at most `n` calls a minute (default: the limit of the service)")
	return cmd
}

func (c *cli) newKeysList(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the keys by their first letters",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := serviceResult(cmd.Context(), c, f, platform.Keys)
			return printList(c, err, list, list.Keys, func(k platform.Key) string {
				return fmt.Sprintf("%d  %s…  %s  %s  %s", k.ID, k.Prefix, k.Holder, k.Name, k.Status(c.term.Now()))
			})
		},
	}
}

// newKeyDoc is the output of `pages platform keys create --json`. The key is shown only here.
type newKeyDoc struct {
	Key string `json:"key"`
}

func (c *cli) newKeysRevoke(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key, at once and permanently",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return failure.Usage("the id is %q; it must be a number from pages platform keys list", args[0])
			}
			err = f.operate(cmd.Context(), c, func(s *service.Service) error { return s.RevokeKey(cmd.Context(), id) })
			if err == nil {
				c.term.Progress("key %d is revoked", id)
			}
			return c.printDone(err)
		},
	}
}
