package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
)

func (c *cli) newSecretsImport() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "import FILE [NAME]...",
		Short: "Set the secrets that a file like .dev.vars holds",
		Long: "Set the secrets that a file holds, in the syntax of .dev.vars and .env: a line\nNAME=value each; - is stdin. With names, those alone. An empty value is none, and is\nleft out.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages secrets import .dev.vars\n  pages secrets import .dev.vars STRIPE_KEY MAIL_TOKEN\n  op inject -i secrets.tpl | pages secrets import -",
		Args:    cobra.MinimumNArgs(1),
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
