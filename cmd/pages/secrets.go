package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newSecrets() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secrets",
		Short: "List, set and remove the secrets of a published site",
		Args:  cobra.NoArgs,
		RunE:  help,
	}
	cmd.AddCommand(c.newSecretsList(), c.newSecretsSet(), c.newSecretsImport(), c.newSecretsRemove())
	return cmd
}

func (c *cli) newSecretsList() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the names of the site's secrets, and which lack a value",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			list, err := client.Run(cmd.Context(), s.Client, s.Contract.ListSecrets, toolapi.SiteArgs{
				SiteID: toolapi.UUID(s.Site), Scope: s.Scope(),
			})
			if err = printList(c, remote.CommandError(err), list, list.Secrets, secretLine); err == nil && !c.term.JSON {
				c.term.PrintNone(len(list.Secrets), "secrets")
			}
			return err
		},
	}
	r.addSite(cmd)
	return cmd
}

func (c *cli) newSecretsSet() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "set NAME [DIR]",
		Short: "Set a secret: asks for its value, or reads it from stdin",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if r.given.KeyFile == "-" {
				return failure.Usage("stdin is the secret's value here; name a file with --api-key-file, or set PAGES_API_KEY")
			}
			s, err := r.openSite(ctx, args[1:])
			if err != nil {
				return err
			}
			value, err := publish.ReadSecret(ctx, &c.term, args[0])
			if err != nil {
				return err
			}
			done, err := publish.SetSecret(ctx, s, args[0], value)
			return c.printSecretChange(done, err, "set")
		},
	}
	r.addSite(cmd)
	return cmd
}

func (c *cli) newSecretsRemove() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "remove NAME [DIR]",
		Short: "Remove a secret from the site",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			done, err := client.Run(cmd.Context(), s.Client, s.Contract.RemoveSecret, toolapi.RemoveSecretArgs{
				SiteID: toolapi.UUID(s.Site), Name: toolapi.SecretName(args[0]), Scope: s.Scope(),
			})
			return c.printSecretChange(done, err, "removed")
		},
	}
	r.addSite(cmd)
	return cmd
}

// secretLine says whether a secret has a value.
func secretLine(s toolapi.Secret) string {
	state := "has no value: pages secrets set " + wording.ShellWord(s.Name)
	if s.SetAt != nil {
		state = "set " + shortTime(*s.SetAt)
	}
	if !s.Declared {
		state += ", not declared by the newest revision"
	}
	return fmt.Sprintf("%-30s %s", wording.Printable(s.Name), wording.Printable(state))
}

// printSecretChange prints the change, and never the value.
func (c *cli) printSecretChange(done toolapi.SecretChange, err error, verb string) error {
	if err != nil {
		return remote.CommandError(err)
	}
	return c.report(done, "%s is %s", wording.Printable(done.Name), verb)
}

func (c *cli) newSecretsImport() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "import FILE [NAME]...",
		Short: "Set the secrets that a file like .dev.vars holds",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && r.given.KeyFile == "-" {
				return failure.Usage("stdin holds the secrets here; name a file with --api-key-file, or set PAGES_API_KEY")
			}
			values, err := publish.ReadSecretsFile(cmd.Context(), &c.term, args[0])
			if err != nil {
				return err
			}
			names, err := publish.PickSecrets(values, args[1:])
			if err != nil {
				return err
			}
			s, err := r.openSite(cmd.Context(), nil)
			if err != nil {
				return err
			}
			list, err := publish.ImportSecrets(cmd.Context(), s, values, names)
			if err == nil && c.term.JSON {
				c.term.PrintJSON(list)
			}
			return err
		},
	}
	r.addSite(cmd)
	return cmd
}
