package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newDomains() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "domains",
		Short:   "List, connect and verify the workspace's domains, and point one at a site",
		Long:    "List, connect and verify the workspace's domains, and point one at a site.\n\nExit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages domains list\n  pages domains connect www.acme.example\n  pages domains verify www.acme.example\n  pages domains point www.acme.example --site Home",
		Args:    cobra.NoArgs,
	}
	list := c.newDomainsList()
	cmd.RunE = list.RunE
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, c.newDomainsConnect(), c.newDomainsVerify(), c.newDomainsPoint())
	return cmd
}

func (c *cli) newDomainsList() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the domains, with the site each points at",
		Long:    "List the domains of the workspace, with the site that each points at. Only what is\nserved now is called live.\n\nExit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages domains list\n  pages domains list --json | jq '.domains[] | select(.serving_now | not)'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			list, err := publish.Domains(cmd.Context(), s)
			err = printList(c, err, list, list.Domains, func(d toolapi.Domain) string {
				return fmt.Sprintf("%s  %-30s %-20s %s", wording.Printable(d.DomainID), wording.Printable(d.Hostname), wording.Printable(d.SiteName), standingOf(d))
			})
			if err == nil && !c.term.JSON {
				c.term.PrintNone(len(list.Domains), "domains")
			}
			return err
		},
	}
	r.add(cmd)
	return cmd
}

// standingOf says what a domain is used for, or waits for.
func standingOf(d toolapi.Domain) string {
	state := "nothing is served"
	switch {
	case d.Pending != nil:
		return "waits for its proof: " + publish.RecordText(d.Pending.Record)
	case d.ServingNow:
		state = "live"
	}
	if d.Provided {
		state += ", given to the page"
	}
	return state
}

func (c *cli) newDomainsConnect() *cobra.Command {
	r := c.newRemote()
	var proposeOnly bool
	cmd := &cobra.Command{
		Use:   "connect HOSTNAME [DIR]",
		Short: "Connect a domain to the workspace, and point it at a site",
		Long: "Connect a domain to the workspace for the first time, and point it at a site. The\nrecords that its owner must set in DNS are printed: a TXT record proves that the\ndomain is yours, and pages domains verify looks for it. Until then nothing is served\nthere. At a terminal you are shown what will happen and asked; elsewhere the line that\nconfirms is printed: exit code 4.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages domains connect www.acme.example\n  pages domains connect www.acme.example --site Shop --json | jq .records",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			return r.proposer(s, proposeOnly).Propose(cmd.Context(), s.Contract.Connect.Name, toolapi.ConnectArgs{
				Hostname: toolapi.Hostname(strings.ToLower(args[0])), SiteID: toolapi.UUID(s.Site), Scope: s.Scope(),
			})
		},
	}
	r.addSite(cmd)
	addProposeOnly(cmd, &proposeOnly)
	return cmd
}

func (c *cli) newDomainsVerify() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "verify DOMAIN",
		Short: "Prove that a domain is the workspace's",
		Long: "Have the service look in DNS for the TXT record that proves a domain to be the\nworkspace's: pages domains list shows the record of one that waits for its proof. Once\nit is found the site is served there, and the record may go.\n\n" +
			"Exit codes: 0 proven, 1 there is no such domain, 2 wrong usage, 6 DNS does not have\nthe record, " + remoteExit,
		Example: "  pages domains verify www.acme.example",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			domain, err := publish.FindDomain(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			v, err := client.Run(cmd.Context(), s.Client, s.Contract.Verify, toolapi.VerifyArgs{DomainID: toolapi.UUID(domain.DomainID), Scope: s.Scope()})
			if err != nil {
				return remote.Error(err)
			}
			if c.term.JSON {
				c.term.PrintJSON(v)
				return nil
			}
			c.term.Progress("%s is the workspace's", wording.Printable(v.Hostname))
			if !v.ServingNow {
				c.term.Progress("nothing is served there until %s is published", wording.Printable(v.SiteName))
			}
			fmt.Fprintln(c.term.Stdout, wording.Printable(s.Client.SiteURL(v.Hostname)))
			return nil
		},
	}
	r.add(cmd)
	return cmd
}

func (c *cli) newDomainsPoint() *cobra.Command {
	r := c.newRemote()
	var proposeOnly bool
	cmd := &cobra.Command{
		Use:   "point DOMAIN [DIR]",
		Short: "Point a domain that the workspace has at a site",
		Long: "Point a domain that the workspace has at a site. At a terminal you are shown what\nwill happen and asked; elsewhere the line that confirms is printed: exit code 4.\n\n" +
			"Exit codes: 0 done, 1 there is no such domain, 2 wrong usage, " + remoteExit,
		Example: "  pages domains point www.acme.example\n  pages domains point www.acme.example --site Shop --propose-only",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			domain, err := publish.FindDomain(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			return r.proposer(s, proposeOnly).Propose(cmd.Context(), s.Contract.PointAtSite.Name, toolapi.PointAtSiteArgs{
				DomainID: toolapi.UUID(domain.DomainID), SiteID: toolapi.UUID(s.Site), Scope: s.Scope(),
			})
		},
	}
	r.addSite(cmd)
	addProposeOnly(cmd, &proposeOnly)
	return cmd
}
