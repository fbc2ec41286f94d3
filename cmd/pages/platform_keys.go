package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func (c *cli) newPlatformKeys(f *platformFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "Make, list and revoke API keys of the local service",
		Example: "  pages platform keys create ana@acme.test\n  pages platform keys list --json\n  pages platform keys revoke 3",
		Args:    cobra.NoArgs,
		RunE:    help,
	}
	cmd.AddCommand(c.newKeysCreate(f), c.newKeysList(f), c.newKeysRevoke(f))
	return cmd
}

func (c *cli) newKeysCreate(f *platformFlags) *cobra.Command {
	var n service.NewKey
	cmd := &cobra.Command{
		Use:   "create EMAIL",
		Short: "Make a key for a member or a service account",
		Long: "Make a key for a member or a service account. The key is printed on stdout, this\nonce: only its hash is kept.\n\n" +
			"Exit codes: 0 made, 1 there is no such member or workspace, 2 wrong usage, 9 the\ndata folder cannot be used.",
		Example: "  pages platform keys create ana@acme.test --expires 720h > key\n  pages platform keys create ci@acme.test --name CI --workspace acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n.Life < 0 || n.PerMinute < 0 || n.PerMinute > platform.MaxRate {
				return failure.Usage("--expires and --rate-limit must not be negative, nor --rate-limit over %d", platform.MaxRate)
			}
			n.Holder = args[0]
			var made newKeyDoc
			err := f.operate(cmd.Context(), c, func(s *service.Service) (err error) {
				made.Key, err = s.CreateKey(cmd.Context(), n)
				return err
			})
			return printList(c, err, made, []newKeyDoc{made}, func(k newKeyDoc) string { return k.Key })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Name, "name", "", "`name` to tell the key by (default: key)")
	flags.StringVar(&n.Workspace, "workspace", "", "pin the key to the workspace with this `slug`")
	flags.DurationVar(&n.Life, "expires", 0, "`duration` that the key is good for, such as 720h (default: until it is revoked)")
	flags.IntVar(&n.PerMinute, "rate-limit", 0, "at most `n` calls a minute (default: those of the service)")
	return cmd
}

func (c *cli) newKeysList(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the keys, by how they start",
		Long:    "List the keys, by how they start, with whom they act for and whether they are good.\nWhen a key was last used is written down every minute.\n\nExit codes: 0 done, 1 there is no service's data, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform keys list\n  pages platform keys list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list platform.KeyList
			err := f.operate(cmd.Context(), c, func(s *service.Service) (err error) {
				list, err = platform.Keys(cmd.Context(), s)
				return err
			})
			return printList(c, err, list, list.Keys, func(k platform.Key) string {
				return fmt.Sprintf("%d  %s…  %s  %s  %s", k.ID, k.Prefix, k.Holder, k.Name, k.Status(c.term.Now()))
			})
		},
	}
}

// newKeyDoc is what `pages platform keys create --json` prints, this once.
type newKeyDoc struct {
	Key string `json:"key"`
}

func (c *cli) newKeysRevoke(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Close the reach of a key, at once and for good",
		Long:    "Close the reach of a key, at once and for good, also in a service that runs. The id\nis the one that pages platform keys list shows.\n\nExit codes: 0 revoked, 1 there is no such key, 2 wrong usage, 9 the data folder\ncannot be used.",
		Example: "  pages platform keys revoke 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return failure.Usage("the id is %q; it is a number that pages platform keys list shows", args[0])
			}
			err = f.operate(cmd.Context(), c, func(s *service.Service) error { return s.RevokeKey(cmd.Context(), id) })
			if err == nil {
				c.term.Progress("key %d is revoked", id)
			}
			return c.changed(err)
		},
	}
}
