package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
)

func (c *cli) newLogin() *cobra.Command {
	r := c.newRemote()
	var store string
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Keep the API key of a service on this machine",
		Long: "Keep the API key of a service on this machine, in the system's keyring, or in a file\nfor you alone where there is none. The key is asked for and not shown, or read\nfrom stdin or --api-key-file; it is never an argument. It is tried before it is\nkept, and the service becomes the one that commands call by default.\n\n" +
			"A key is made in the product's Settings under API & MCP. PAGES_API_KEY counts\nbefore a login, and needs none.\n\n" +
			"Exit codes: 0 logged in, 1 that is no key, 2 wrong usage, 4 a person is needed,\n5 the key is refused, 8 no answer, 9 the key cannot be kept.",
		Example: "  pages login https://workspace.example\n  pages login http://127.0.0.1:8790 < key\n  pages login https://workspace.example --store file",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				r.given.BaseURL = args[0]
			}
			if store != "auto" && store != "keyring" && store != "file" {
				return failure.Usage("--store is %q; it is one of auto, keyring, file", store)
			}
			report, hint, err := remote.Login(cmd.Context(), r.options(""), store)
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(report)
				return nil
			}
			c.term.Progress("logged in to %s with the key %s, kept in the %s", report.BaseURL, hint, report.Kept)
			return nil
		},
	}
	r.add(cmd)
	cmd.Flags().StringVar(&store, "store", "auto", "`where` to keep the key: auto, keyring, file")
	return cmd
}

func (c *cli) newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [URL]",
		Short: "Forget the API key of a service",
		Long: "Forget the API key of a service on this machine: of the one that was logged in to\nlast, or of the one named. The key itself stays good until it is revoked in the\nproduct's Settings.\n\n" +
			"Exit codes: 0 forgotten, 1 there was none, 2 wrong usage, 9 the keyring or the\nsettings cannot be used.",
		Example: "  pages logout\n  pages logout https://workspace.example",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, _ := first(args)
			report, err := remote.Logout(cmd.Context(), &c.term, address)
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(report)
				return nil
			}
			c.term.Progress("the key for %s is forgotten here", report.BaseURL)
			return nil
		},
	}
}
