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
		Short: "Store the API key of a service on this machine",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				r.given.BaseURL = args[0]
			}
			if store != "auto" && store != "keyring" && store != "file" {
				return failure.Usage("--store is %q; it must be one of auto, keyring, file", store)
			}
			report, hint, err := remote.Login(cmd.Context(), r.options(""), store)
			if err != nil {
				return err
			}
			return c.report(report, "logged in to %s with the key %s, stored in the %s", report.BaseURL, hint, report.Kept)
		},
	}
	r.add(cmd)
	cmd.Flags().StringVar(&store, "store", "auto", "`where` to keep the key: auto, keyring, file")
	return cmd
}

func (c *cli) newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [URL]",
		Short: "Remove the API key of a service from this machine",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, _ := first(args)
			report, err := remote.Logout(cmd.Context(), &c.term, address)
			if err != nil {
				return err
			}
			return c.report(report, "removed the key for %s from this machine", report.BaseURL)
		},
	}
}

func (c *cli) newWhoami() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show the key of each service, and in which workspace calls run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			who, err := s.Who(cmd.Context())
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(who)
				return nil
			}
			who.Write(c.term.Stdout)
			return nil
		},
	}
	r.add(cmd)
	return cmd
}
