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
		Use:   "domains",
		Short: "List, connect and verify the workspace's domains, and point one at a site",
		Args:  cobra.NoArgs,
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
		Use:   "list",
		Short: "List the domains and their sites",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			list, err := publish.Domains(cmd.Context(), s)
			err = printList(c, err, list, list.Domains, func(d toolapi.Domain) string {
				id, host, site := wording.Printable(d.DomainID), wording.Printable(d.Hostname), wording.Printable(d.SiteName)
				return fmt.Sprintf("%s  %-30s %-20s %s", id, host, site, domainState(d))
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

// domainState describes the use of a domain, or the missing DNS record.
func domainState(d toolapi.Domain) string {
	state := "nothing is served"
	switch {
	case d.Pending != nil:
		return "pending, set in DNS: " + publish.RecordText(d.Pending.Record)
	case d.ServingNow:
		state = "live"
	}
	if d.Provided {
		state += ", the site's own"
	}
	return state
}

func (c *cli) newDomainsConnect() *cobra.Command {
	r := c.newRemote()
	var proposeOnly bool
	cmd := &cobra.Command{
		Use:   "connect HOSTNAME [DIR]",
		Short: "Connect a domain to the workspace, and point it at a site",
		Args:  cobra.RangeArgs(1, 2),
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
		Short: "Prove that a domain is yours",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			domain, err := publish.FindDomain(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			v, err := client.Run(cmd.Context(), s.Client, s.Contract.Verify, toolapi.VerifyArgs{
				DomainID: toolapi.UUID(domain.DomainID), Scope: s.Scope(),
			})
			if err != nil {
				return remote.Error(err)
			}
			if c.term.JSON {
				c.term.PrintJSON(v)
				return nil
			}
			c.term.Progress("%s belongs to the workspace", wording.Printable(v.Hostname))
			if !v.ServingNow {
				c.term.Progress("it serves nothing until %s is published", wording.Printable(v.SiteName))
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
		Short: "Point a domain of the workspace at a site",
		Args:  cobra.RangeArgs(1, 2),
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
