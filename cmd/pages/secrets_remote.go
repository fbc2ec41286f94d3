package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// maxSecret is as much as is read of a secret's value.
const maxSecret = 64 << 10

func (c *cli) newSecrets() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "secrets",
		Short:   "List, set and remove the secrets of a published site",
		Long:    "List, set and remove the secrets of a published site. Values go in and never come\nout again. Those of pages dev are in .dev.vars.\n\nExit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets list\n  pages secrets set STRIPE_KEY < key\n  pages secrets import .dev.vars\n  pages secrets remove STRIPE_KEY",
		Args:    cobra.NoArgs,
		RunE:    help,
	}
	cmd.AddCommand(c.newSecretsList(), c.newSecretsSet(), c.newSecretsImport(), c.newSecretsRemove())
	return cmd
}

func (c *cli) newSecretsList() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the names of the site's secrets, and which lack a value",
		Long:    "List the names of the site's secrets: those that have a value, and those that the\nnewest revision declares and that have none.\n\nExit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets list\n  pages secrets list --json | jq -r '.secrets[] | select(.set_at == null).name'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.openSite(cmd.Context(), args); err != nil {
				return err
			}
			list, err := client.Run(cmd.Context(), r.client, r.contract.ListSecrets, toolapi.SiteArgs{SiteID: toolapi.UUID(r.site), Scope: r.scope()})
			if err != nil {
				return commandError(err)
			}
			if r.term.JSON {
				r.term.PrintJSON(list)
				return nil
			}
			for _, s := range list.Secrets {
				state := "has no value: pages secrets set " + wording.ShellWord(s.Name)
				if s.SetAt != nil {
					state = "set " + shortTime(*s.SetAt)
				}
				if !s.Declared {
					state += ", not declared by the newest revision"
				}
				fmt.Fprintf(r.term.Stdout, "%-30s %s\n", wording.Printable(s.Name), wording.Printable(state))
			}
			r.term.PrintNone(len(list.Secrets), "secrets")
			return nil
		},
	}
	r.siteFlags(cmd)
	return cmd
}

func (c *cli) newSecretsSet() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "set NAME [DIR]",
		Short: "Set a secret: its value is asked for, or read from stdin",
		Long: "Set a secret of the site. At a terminal the value is asked for and not shown;\nelsewhere it is all of stdin, without a line feed at its end. It is never an\nargument, which everyone on the machine could read.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets set STRIPE_KEY\n  pages secrets set STRIPE_KEY < key\n  op read op://vault/stripe/key | pages secrets set STRIPE_KEY",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if r.keyFile == "-" {
				return failure.Usage("stdin is the secret's value here; name a file with --api-key-file, or set PAGES_API_KEY")
			}
			if err := r.openSite(ctx, args[1:]); err != nil {
				return err
			}
			value, err := r.secretValue(ctx, args[0])
			if err != nil {
				return err
			}
			done, err := r.setSecret(ctx, args[0], value)
			return r.reportSecret(done, err, "set")
		},
	}
	r.siteFlags(cmd)
	return cmd
}

// setSecret sets one secret of the site.
func (r *remote) setSecret(ctx context.Context, name, value string) (toolapi.SecretChange, error) {
	return client.Run(ctx, r.client, r.contract.SetSecret, toolapi.SetSecretArgs{
		SiteID: toolapi.UUID(r.site), Name: toolapi.SecretName(name), Value: toolapi.SecretValue(value), Scope: r.scope(),
	})
}

// secretValue reads the value of a secret.
func (r *remote) secretValue(ctx context.Context, name string) (string, error) {
	var value string
	if terminal.IsTerminalReader(r.term.Stdin) {
		text, err := r.term.ReadSecret(ctx, "value of "+wording.Printable(name)+" (not shown): ", "give the value on stdin: pages secrets set "+wording.ShellWord(name)+" < FILE")
		if err != nil {
			return "", err
		}
		value = text
	} else {
		text, err := io.ReadAll(io.LimitReader(userfile.Interruptible(ctx, r.term.Stdin), maxSecret+1))
		if err != nil {
			return "", fmt.Errorf("read stdin: %w", err)
		}
		value = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	}
	switch {
	case value == "":
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "empty-secret", Message: "the value is empty, which is no value", Fix: "to take a secret away: pages secrets remove " + wording.ShellWord(name)}
	case len(value) > maxSecret:
		return "", &failure.Error{Exit: failure.ExitRefused, Code: "long-secret", Message: fmt.Sprintf("the value is longer than %d bytes", maxSecret)}
	}
	return value, nil
}

func (c *cli) newSecretsRemove() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "remove NAME [DIR]",
		Short:   "Remove a secret from the site",
		Long:    "Remove a secret from the site: its Worker reads undefined from then on.\n\nExit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets remove STRIPE_KEY",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.openSite(cmd.Context(), args[1:]); err != nil {
				return err
			}
			done, err := client.Run(cmd.Context(), r.client, r.contract.RemoveSecret, toolapi.RemoveSecretArgs{
				SiteID: toolapi.UUID(r.site), Name: toolapi.SecretName(args[0]), Scope: r.scope(),
			})
			return r.reportSecret(done, err, "removed")
		},
	}
	r.siteFlags(cmd)
	return cmd
}

// reportSecret says what was done, and never the value.
func (r *remote) reportSecret(done toolapi.SecretChange, err error, what string) error {
	if err != nil {
		return commandError(err)
	}
	if r.term.JSON {
		r.term.PrintJSON(done)
		return nil
	}
	r.term.Progress("%s is %s", wording.Printable(done.Name), what)
	return nil
}
