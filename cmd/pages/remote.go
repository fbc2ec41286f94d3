package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file holds what the commands that call a service share: which service, with
// which key, in which workspace, for which site. Commands that work on this machine
// alone have none of these flags, so that the two are never taken for each other.

// remote is how a command reaches a service.
type remote struct {
	*cli
	baseURL   string
	keyFile   string
	workspace string
	site      string

	dir      string // the site's folder; "" when there is none
	link     link
	client   *client.Client
	contract *toolapi.Contract
	keyFrom  string // where the key comes from, for people
	loggedIn bool   // the key is the one of pages login, of this address
	hint     string // the start of the key
	stopTold bool   // what stands after a signal was said
	unkept   string // the id of a proposal that could not be kept
}

// flags gives a command the flags of a service.
func (r *remote) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.baseURL, "base-url", "", "`URL` of the service (default: that of the link, or of pages login)")
	f.StringVar(&r.keyFile, "api-key-file", "", "`file` that holds the API key; - for stdin (default: PAGES_API_KEY, or pages login)")
	f.StringVar(&r.workspace, "workspace", "", "`slug` of the workspace (default: that of the link, or of the key)")
}

// siteFlags adds the one of a site.
func (r *remote) siteFlags(cmd *cobra.Command) {
	r.flags(cmd)
	cmd.Flags().StringVar(&r.site, "site", "", "`site`, by its id, hostname or name (default: that of the link)")
}

// proposeFlag adds the one of commands that a person confirms.
func proposeFlag(cmd *cobra.Command, proposeOnly *bool) {
	cmd.Flags().BoolVar(proposeOnly, "propose-only", false, "never ask: propose, and print the line that confirms")
}

// remoteExit ends the help of commands that call a service.
const remoteExit = "4 a person is needed,\n5 the key is refused, 6 the tool refused, 7 still rate limited after waiting, 8 no\nanswer or 5xx."

// remoteCommands are all commands that call a service.
func (c *cli) remoteCommands() []*cobra.Command {
	return []*cobra.Command{
		c.newDeploy(), c.newConfirm(), c.newRollback(), c.newRevisions(), c.newPreview(), c.newDomains(), c.newSecrets(),
		c.newCall(), c.newTools(), c.newLogin(), c.newLogout(), c.newWhoami(),
	}
}

// newRemote is a remote of this run.
func (c *cli) newRemote() *remote { return &remote{cli: c} }

// open finds out all that a call needs. dir is the site's folder, "" to look for one.
func (r *remote) open(ctx context.Context, dir string) error {
	r.dir = dir
	if dir == "" {
		r.dir, _ = r.find(nil) // without a site there is no link
	}
	if err := r.readLink(); err != nil {
		return err
	}
	r.inherit()
	store := r.credentials()
	given, trusted, err := r.address(store)
	if err != nil {
		return err
	}
	base, err := client.Address(given)
	if err != nil {
		return remoteError(err)
	}
	key, err := r.key(ctx, store, base)
	if err != nil {
		return err
	}
	if !r.loggedIn && !trusted {
		named := "PAGES_API_KEY is set"
		if r.keyFrom != envKey {
			named = "--api-key-file names a key"
		}
		return r.notNamed(named, base)
	}
	r.hint = client.Hint(key)
	r.contract = toolapi.NewContract()
	return r.dial(base, key)
}

// notNamed refuses to call a service that only a file of the site's names.
func (r *remote) notNamed(why, base string) error {
	return &failure.Error{
		Exit: failure.ExitUsage, Code: "address-not-given", Message: fmt.Sprintf("%s, and only %s says that it goes to %s", why, r.term.Shown(r.linkPath()), base),
		Fix: "give the address yourself, as a file of the site may not choose who gets the key, not even on this machine: PAGES_BASE_URL or --base-url, or once for all pages login URL",
	}
}

// dial makes the client. What it warns of, what is deprecated say, goes to the person.
func (r *remote) dial(base, key string) (err error) {
	r.client, err = client.New(client.Options{BaseURL: base, Key: key, UserAgent: "pages/" + version, Warn: r.note})
	return remoteError(err)
}

// note tells a person what a client of the service warns of.
func (r *remote) note(sentence string) {
	r.term.Progress("%s %s", r.term.Paint("33", "note:"), sentence)
}

// inherit takes from the link what was not given.
func (r *remote) inherit() {
	if r.workspace == "" {
		r.workspace = r.link.Workspace
	}
	if r.site == "" {
		r.site = r.link.SiteID
	}
}

// address is the service's, and whether the user named it, or logged in to it, rather than a
// file of the site's alone naming it. One of this machine is no exception: another one's
// program may listen there, or a port that leads to another machine.
func (r *remote) address(store *credentials) (base string, trusted bool, err error) {
	switch {
	case r.baseURL != "":
		return r.baseURL, true, nil
	case r.link.BaseURL != "":
		return r.link.BaseURL, store.has(r.link.BaseURL), nil
	case store.Default != "":
		return store.Default, true, nil
	}
	return "", false, &failure.Error{
		Exit: failure.ExitUsage, Code: "no-address", Message: "no service is chosen",
		Fix: "name its address with PAGES_BASE_URL or --base-url, or once for all with pages login; pages platform runs one on this machine",
	}
}

// named is the workspace as calls name it.
func (r *remote) scope() toolapi.Scope { return toolapi.Scope{Workspace: toolapi.Slug(r.workspace)} }

// inWorkspace makes a call; when it needs a workspace, a person at a terminal is asked,
// and nobody else is chosen for.
func (r *remote) inWorkspace(ctx context.Context, call func() error) error {
	err := call()
	refused, ok := errors.AsType[*client.RefusalError](err)
	if !ok || refused.Refusal.Code != toolapi.CodeWorkspaceAmbiguous || !r.term.Interactive() {
		return remoteError(err)
	}
	n, err := r.term.Choose(ctx, "In which workspace?", refused.Refusal.Workspaces, terminal.NoDefault)
	if err != nil {
		return err
	}
	r.workspace = refused.Refusal.Workspaces[n]
	return remoteError(call())
}

// chooseSite finds the site that is meant; a person at a terminal is asked when none is.
func (r *remote) chooseSite(ctx context.Context) (page toolapi.Page, in toolapi.WorkingIn, err error) {
	var list toolapi.PageList
	err = r.inWorkspace(ctx, func() (err error) {
		list, err = deploy.Pages(ctx, r.client, r.contract, r.workspace)
		return err
	})
	if err != nil {
		return page, in, err
	}
	in, r.workspace = list.WorkingIn, list.Workspace
	page, err = deploy.FindPage(list, r.site)
	unknown, ok := errors.AsType[*deploy.UnknownSiteError](err)
	if !ok || unknown.Name != "" || len(unknown.Pages) == 0 || !r.term.Interactive() {
		r.site = page.SiteID
		return page, in, remoteError(err)
	}
	names := make([]string, len(list.Pages))
	for i, p := range list.Pages {
		names[i] = fmt.Sprintf("%s  %s", p.Name, p.Hostname)
	}
	n, err := r.term.Choose(ctx, "Which site?", names, terminal.NoDefault)
	if err != nil {
		return page, in, err
	}
	page = list.Pages[n]
	r.site = page.SiteID
	return page, in, r.saveLink()
}

// proposals is the folder where proposals of this site are kept.
func (r *remote) proposals() (string, error) {
	if r.dir != "" {
		return localstate.InPagesFolder(r.dir, "proposals")
	}
	return r.ownProposals(), nil
}

// ownProposals is the folder of those that cannot be kept beside a site.
func (r *remote) ownProposals() string { return filepath.Join(r.term.ConfigDir, "pages", "proposals") }
