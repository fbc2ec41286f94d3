package main

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi"
)

// sendGCPercent lets the heap of a deploy grow to twice of what is in use: collecting the
// garbage of ten thousand requests takes a tenth of its processor time, and memory stays
// far below what is promised.
const sendGCPercent = 200

// deployFlags are the flags of `pages deploy`.
type deployFlags struct {
	options     publish.DeployOptions
	minify      bool
	allowImport []string
}

func (c *cli) newDeploy() *cobra.Command {
	r, f := c.newRemote(), &deployFlags{}
	cmd := &cobra.Command{
		Use:   "deploy [DIR]",
		Short: "Publish the site: plan, send what changed, propose, confirm",
		Long: "Publish the site: validate and build it, plan against what is live, send the files\nthat the service lacks, propose to publish, and confirm. Visitors see nothing of it\nuntil the confirmation.\n\n" +
			"At a terminal you are shown the plan and asked. Elsewhere, and with a service\naccount's key, the proposal is kept and the line that confirms it is printed: exit\ncode 4. A deploy that was cut off goes on where it stopped when it is run again.\n\n" +
			"Paths that become public and were for members need --allow-public. A page that\nsomeone else published meanwhile is left alone, unless --force.\n\n" +
			"stdout is the site's address, or with --propose-only the line that confirms. In GitHub\nActions the plan and the result are added to the step's summary.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit + "\n9 a file or folder cannot be used, 10 the plan has changes (--exit-code), 75 gave up:\nrun it again.",
		Example: "  pages deploy\n  pages deploy --create 'My site'\n  pages deploy --plan --exit-code\n  pages deploy --preview\n  pages deploy --at 2026-12-01T09:00:00+01:00\n  pages deploy --propose-only --json | jq -r .confirmation_id",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := &f.options
			if err := f.check(r.c, c.term.Now()); err != nil {
				return err
			}
			debug.SetGCPercent(sendGCPercent)
			dir, m, err := c.sites().LoadToBuild(args)
			if err != nil {
				return err
			}
			o.Remote, o.NearestDir, o.Manifest = r.options(dir), c.nearestDir(), m
			o.NewBuilder = func(ctx context.Context) (*bundler.Builder, error) {
				options := c.sites().BundlerOptions(f.allowImport)
				options.Minify = f.minify
				return c.sites().NewBundler(ctx, dir, m, options)
			}
			return publish.Deploy(cmd.Context(), *o)
		},
	}
	r.addSite(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.options.Create, "create", "", "make a new site with this `name`, and deploy there")
	flags.BoolVar(&f.options.Plan, "plan", false, "say what would change, and send nothing")
	flags.StringVar(&f.options.PlanOut, "plan-out", "", "like --plan, and write the plan as JSON to a `file`")
	flags.BoolVar(&f.options.ExitCode, "exit-code", false, "like --plan, and end with 10 when there are changes")
	flags.BoolVar(&f.options.Preview, "preview", false, "publish nothing: give a link that shows the new revision to whoever has it")
	flags.DurationVar(&f.options.Expires, "expires", 0, "`duration` that the preview link is good for, from 1m to 168h (default 24h)")
	flags.StringVar(&f.options.At, "at", "", "publish at a `time` with its offset, such as 2026-12-01T09:00:00+01:00")
	addProposeOnly(cmd, &f.options.ProposeOnly)
	flags.StringVar(&f.options.ProposalOut, "confirmation-out", "", "write the proposal to a `file`, for pages confirm --from")
	flags.BoolVar(&f.options.AllowPublic, "allow-public", false, "let paths become public that were for members")
	flags.BoolVar(&f.options.Force, "force", false, "publish over what someone else published meanwhile")
	flags.BoolVar(&f.minify, "minify", false, "shorten the Worker's code")
	allowImportFlag(flags, &f.allowImport)
	flags.BoolVar(&f.options.SourceMaps, "source-maps", false, "send the Worker's source map, so that its errors name your lines")
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
		return failure.Usage("--plan makes nothing; it goes without --create")
	case o.Plan && (o.Preview || o.At != "" || o.ProposeOnly):
		return failure.Usage("--plan sends nothing; it goes without --preview, --at and --propose-only")
	case o.Expires != 0 && !o.Preview:
		return failure.Usage("--expires belongs to --preview")
	}
	if err := checkExpires(o.Expires); err != nil {
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
		return failure.Usage("--at is empty; without it the page is published at once")
	}
	return errors.Join(terminal.NotStdout("the plan", o.PlanOut), terminal.NotStdout("the proposal", o.ProposalOut))
}

// checkExpires refuses a life of a preview link that the service would refuse; 0 is the service's own.
func checkExpires(d time.Duration) error {
	if d != 0 && (d < toolapi.MinPreviewSeconds*time.Second || d > toolapi.MaxPreviewSeconds*time.Second) {
		return failure.Usage("--expires is %v; it must be from 1m to 168h", d)
	}
	return nil
}
