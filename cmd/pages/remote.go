package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/toolapi"
)

// remoteFlags are the flags of a command that calls a service. Local commands have none of them, so that people can tell the two apart.
type remoteFlags struct {
	c     *cli
	given remote.Options
}

func (c *cli) newRemote() *remoteFlags { return &remoteFlags{c: c} }

// add adds the flags of a service to a command.
func (r *remoteFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.given.BaseURL, "base-url", "", "`URL` of the service (default: that of the link, or of pages login)")
	const keyUsage = "`file` that holds the API key; - for stdin (default: PAGES_API_KEY, or pages login)"
	f.StringVar(&r.given.KeyFile, "api-key-file", "", keyUsage)
	f.StringVar(&r.given.Workspace, "workspace", "", "`slug` of the workspace (default: that of the link, or of the key)")
}

// addSite adds the flag of a site, too.
func (r *remoteFlags) addSite(cmd *cobra.Command) {
	r.add(cmd)
	cmd.Flags().StringVar(&r.given.Site, "site", "", "`site`, by its id, hostname or name (default: that of the link)")
}

// addProposeOnly adds the flag of commands that need a person's confirmation.
func addProposeOnly(cmd *cobra.Command, proposeOnly *bool) {
	cmd.Flags().BoolVar(proposeOnly, "propose-only", false, "never ask: propose, and print the line that confirms")
}

// addAllowLoss adds the flag of commands that may remove rows.
func addAllowLoss(cmd *cobra.Command, tables *toolapi.TableNames) {
	cmd.Flags().StringArrayVar((*[]string)(tables), "allow-data-loss", nil, "`table` that may lose the rows and values that the plan names")
}

// options returns the options of a session for the site in dir; "" finds the site.
func (r *remoteFlags) options(dir string) remote.Options {
	o := r.given
	if o.Dir = dir; dir == "" {
		o.Dir, _ = r.c.sites().Find(nil) // without a site there is no link
	}
	o.Term, o.Version, o.KeyFileTyped = &r.c.term, version, r.c.typed["api-key-file"]
	return o
}

// open opens a session for the site that it finds, if any.
func (r *remoteFlags) open(ctx context.Context) (*remote.Session, error) {
	return remote.Open(ctx, r.options(""))
}

// openSite opens a session, and finds its site; args may name the folder of the site here.
func (r *remoteFlags) openSite(ctx context.Context, args []string) (*remote.Session, error) {
	if err := r.c.siteArgument(args); err != nil {
		return nil, err
	}
	return remote.OpenSite(ctx, r.options(""))
}

// proposer asks a person to confirm proposals of a session.
func (r *remoteFlags) proposer(s *remote.Session, proposeOnly bool) *publish.Proposer {
	return &publish.Proposer{Session: s, NearestDir: r.c.nearestDir(), ProposeOnly: proposeOnly}
}

// nearestDir is the site's folder that commands find without a flag; "" for none.
func (c *cli) nearestDir() string {
	dir, err := c.sites().Nearest()
	if err != nil {
		return ""
	}
	return dir
}
