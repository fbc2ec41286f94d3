package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi"
)

// sendGCPercent lets the heap of a deploy grow by twice the live memory: garbage collection for ten thousand requests takes a tenth of the
// processor time, and memory stays far below the promised limit.
const sendGCPercent = 200

// buildGCPercent holds until the first collection, which it delays to 32 MB: a site of ten thousand files allocates about as much before it
// sends, and little of it is garbage.
const buildGCPercent = 800

// collectLate delays the first garbage collection, and sets later ones as for sending.
func collectLate() {
	debug.SetGCPercent(buildGCPercent)
	first := new([64]byte) // unreachable, so that the first collection finds it
	runtime.AddCleanup(first, func(percent int) { debug.SetGCPercent(percent) }, sendGCPercent)
}

// deployFlags are the flags of `pages deploy`.
type deployFlags struct {
	options     publish.DeployOptions
	named       namedPreviewFlags
	minify      bool
	rehash      bool
	allowImport []string
}

func (c *cli) newDeploy() *cobra.Command {
	r, f := c.newRemote(), &deployFlags{}
	cmd := &cobra.Command{
		Use:   "deploy [DIR]",
		Short: "Publish the site: plan, send what changed, propose, confirm",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := &f.options
			if err := f.check(r.c, c.term.Now()); err != nil {
				return err
			}
			collectLate()
			dir, m, public, err := c.sites().LoadToBuild(args)
			if err != nil {
				return err
			}
			o.Remote, o.NearestDir, o.Manifest, o.Public = r.options(dir), c.nearestDir(), m, public
			o.NewBuilder = func(ctx context.Context) (*bundler.Builder, error) {
				options := c.sites().BundlerOptions(f.allowImport)
				options.Minify, options.Rehash = f.minify, f.rehash
				options.HashFile, options.Program = c.hashFile(dir), tool()
				return c.sites().NewBundler(ctx, dir, m, options)
			}
			return publish.Deploy(cmd.Context(), *o)
		},
	}
	r.addSite(cmd)
	flags, o := cmd.Flags(), &f.options
	flags.StringVar(&o.Create, "create", "", "make a new site with this `name`, and deploy there")
	flags.BoolVar(&o.Plan, "plan", false, "show the changes, and send nothing")
	flags.BoolVar(&o.Offline, "offline", false, "with --plan: ask no service; everything counts as new")
	flags.StringVar(&o.PlanOut, "plan-out", "", "like --plan, and write the plan as JSON to a `file`")
	flags.BoolVar(&o.ExitCode, "exit-code", false, "like --plan, and end with 10 when there are changes")
	flags.BoolVar(&o.Preview, "preview", false, "publish nothing: print a link that shows the new revision to everyone who has it")
	flags.DurationVar(&o.Expires, "expires", 0, "`duration` for which the preview link is valid, from 1m to 168h (default 24h)")
	f.named.add(cmd)
	flags.StringVar(&o.At, "at", "", "publish at a `time` with its offset, such as 2026-12-01T09:00:00+01:00")
	addProposeOnly(cmd, &o.ProposeOnly)
	flags.StringVar(&o.ProposalOut, "confirmation-out", "", "write the proposal to a `file`, for pages confirm --from")
	flags.BoolVar(&o.AllowPublic, "allow-public", false, "allow paths for members to become public")
	addAllowLoss(cmd, &o.AllowLoss)
	flags.BoolVar(&o.Force, "force", false, "replace a revision that someone else published in the meantime")
	flags.BoolVar(&f.minify, "minify", false, "shorten the Worker's code")
	flags.BoolVar(&f.rehash, "rehash", false, "read every file again, also those that have not changed since the last deploy")
	allowImportFlag(flags, &f.allowImport)
	flags.BoolVar(&o.SourceMaps, "source-maps", false, "send the Worker's source map, so that its errors name your lines")
	return cmd
}

// check refuses flags that do not go together.
func (f *deployFlags) check(c *cli, now time.Time) error {
	o := &f.options
	o.Plan = o.Plan || o.PlanOut != "" || o.ExitCode
	switch {
	case o.Preview && o.At != "":
		return failure.Usage("--preview publishes nothing, and --at publishes; use one")
	case o.Plan && o.Create != "":
		return failure.Usage("--plan creates no site: leave out --create")
	case o.Plan && (o.Preview || o.At != "" || o.ProposeOnly):
		return failure.Usage("--plan sends nothing: leave out --preview, --at and --propose-only")
	case o.Offline && (!o.Plan || o.PlanOut != "" || o.ExitCode):
		return failure.Usage("--offline needs --plan, without --plan-out and --exit-code: there is nothing to compare with")
	case o.Expires != 0 && !o.Preview:
		return failure.Usage("--expires needs --preview")
	}
	if err := checkExpires(o.Expires); err != nil {
		return err
	}
	var err error
	if o.Named, err = f.named.options(c, o.Preview, o.Expires); err != nil {
		return err
	}
	if o.At != "" {
		if err := publish.CheckTime(o.At, now); err != nil {
			return err
		}
	}
	switch {
	case c.typed["create"] && o.Create == "":
		return failure.Usage("--create is empty; it is the name of the new site")
	case c.typed["at"] && o.At == "":
		return failure.Usage("--at is empty; without it the site is published at once")
	}
	return errors.Join(terminal.NotStdout("the plan", o.PlanOut), terminal.NotStdout("the proposal", o.ProposalOut))
}

// checkExpires refuses a lifetime of a preview link that the service would refuse; 0 is the service's default.
func checkExpires(d time.Duration) error {
	if d != 0 && (d < toolapi.MinPreviewSeconds*time.Second || d > toolapi.MaxPreviewSeconds*time.Second) {
		return failure.Usage("--expires is %v; it must be from 1m to 168h", d)
	}
	return nil
}

func (c *cli) newConfirm() *cobra.Command {
	r := c.newRemote()
	var from string
	var allowed toolapi.TableNames
	cmd := &cobra.Command{
		Use:   "confirm ID [TOOL KEY=VALUE…]",
		Short: "Confirm a proposal, so that it takes effect",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return publish.Confirm(cmd.Context(), publish.ConfirmOptions{
				Remote: r.options(""), NearestDir: c.nearestDir(), ID: args[0], From: from, Words: args[1:], AllowLoss: allowed,
			})
		},
	}
	r.add(cmd)
	addAllowLoss(cmd, &allowed)
	cmd.Flags().StringVar(&from, "from", "", "`file` of the proposal, as --confirmation-out wrote it")
	return cmd
}
