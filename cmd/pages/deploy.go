package main

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// sendGCPercent lets the heap of a deploy grow to twice of what is in use: collecting the
// garbage of ten thousand requests takes a tenth of its processor time, and memory stays
// far below what is promised.
const sendGCPercent = 200

// deployFlags are the flags of `pages deploy`.
type deployFlags struct {
	plan        bool
	planOut     string
	exitCode    bool
	preview     bool
	expires     time.Duration
	at          string
	proposeOnly bool
	proposalOut string
	allowPublic bool
	force       bool
	minify      bool
	allowImport []string
	maps        bool
	create      string
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
			if err := f.check(r.term.Now()); err != nil {
				return err
			}
			switch {
			case r.typed["create"] && f.create == "":
				return failure.Usage("--create is empty; it is the name of the new site")
			case r.typed["at"] && f.at == "":
				return failure.Usage("--at is empty; without it the page is published at once")
			}
			if err := errors.Join(terminal.NotStdout("the plan", f.planOut), terminal.NotStdout("the proposal", f.proposalOut)); err != nil {
				return err
			}
			debug.SetGCPercent(sendGCPercent)
			d := &deployment{remote: r, deployFlags: f}
			err := d.run(cmd.Context(), args)
			if err != nil && cmd.Context().Err() != nil {
				d.stopped("%s", d.standing())
			}
			d.summarize(err)
			return err
		},
	}
	r.siteFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.create, "create", "", "make a new site with this `name`, and deploy there")
	flags.BoolVar(&f.plan, "plan", false, "say what would change, and send nothing")
	flags.StringVar(&f.planOut, "plan-out", "", "like --plan, and write the plan as JSON to a `file`")
	flags.BoolVar(&f.exitCode, "exit-code", false, "like --plan, and end with 10 when there are changes")
	flags.BoolVar(&f.preview, "preview", false, "publish nothing: give a link that shows the new revision to whoever has it")
	flags.DurationVar(&f.expires, "expires", 0, "`duration` that the preview link is good for, from 1m to 168h (default 24h)")
	flags.StringVar(&f.at, "at", "", "publish at a `time` with its offset, such as 2026-12-01T09:00:00+01:00")
	proposeFlag(cmd, &f.proposeOnly)
	flags.StringVar(&f.proposalOut, "confirmation-out", "", "write the proposal to a `file`, for pages confirm --from")
	flags.BoolVar(&f.allowPublic, "allow-public", false, "let paths become public that were for members")
	flags.BoolVar(&f.force, "force", false, "publish over what someone else published meanwhile")
	flags.BoolVar(&f.minify, "minify", false, "shorten the Worker's code")
	allowImportFlag(flags, &f.allowImport)
	flags.BoolVar(&f.maps, "source-maps", false, "send the Worker's source map, so that its errors name your lines")
	return cmd
}

func (f *deployFlags) check(now time.Time) error {
	f.plan = f.plan || f.planOut != "" || f.exitCode
	switch {
	case f.preview && f.at != "":
		return failure.Usage("--preview publishes nothing, and --at publishes; use one")
	case f.plan && f.create != "":
		return failure.Usage("--plan makes nothing; it goes without --create")
	case f.plan && (f.preview || f.at != "" || f.proposeOnly):
		return failure.Usage("--plan sends nothing; it goes without --preview, --at and --propose-only")
	case f.expires != 0 && !f.preview:
		return failure.Usage("--expires belongs to --preview")
	case f.expires != 0 && (f.expires < toolapi.MinPreviewSeconds*time.Second || f.expires > toolapi.MaxPreviewSeconds*time.Second):
		return failure.Usage("--expires is %v; it must be from 1m to 168h", f.expires)
	case f.at != "":
		return checkAt(f.at, now)
	}
	return nil
}

// deployment is one run of `pages deploy`, and what came of it.
type deployment struct {
	*remote
	*deployFlags

	to       *deploy.Deployer
	page     toolapi.Page
	planned  *deploy.Plan
	revision string
	outcome  string // one sentence
	url      string
	proposal *deploy.Proposal
}

// standing is what stands of a deploy that a signal ended before its confirmation.
func (d *deployment) standing() string {
	switch {
	case d.plan:
		return "stopped; nothing was sent"
	case d.revision == "":
		return "stopped; nothing was published. Run it again: it goes on where it stopped"
	case d.preview:
		return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again to get a link"
	}
	return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again: it proposes that"
}

func (d *deployment) run(ctx context.Context, args []string) error {
	dir, m, err := d.loadToBuild(args)
	if err != nil {
		return err
	}
	if err := d.open(ctx, dir); err != nil {
		return err
	}
	options := d.bundlerOptions(d.allowImport)
	options.Minify = d.minify
	site, err := d.buildSite(ctx, dir, m, options, d.maps)
	if err != nil {
		return err
	}
	defer site.close()
	if err := d.createPage(ctx); err != nil {
		return err
	}
	page, in, err := d.chooseSite(ctx)
	if err != nil {
		return err
	}
	d.page = page
	d.term.Progress("%s %s (%s) in the workspace %s at %s", d.term.Paint("1", "to"), wording.Printable(page.Name), wording.Printable(page.Hostname), wording.Printable(in.Workspace), d.client.BaseURL())
	d.to = &deploy.Deployer{Client: d.client, Contract: d.contract, Workspace: d.workspace, Site: d.site, Version: version, Now: d.term.Now}
	live, err := d.to.Look(ctx)
	if err != nil {
		return remoteError(err)
	}
	plan, err := deploy.Compare(live, site.Bundle)
	if err != nil {
		return err
	}
	d.planned = &plan
	if d.plan {
		return d.finishPlan()
	}
	d.printPlan(d.term.Stderr, d.planned)
	if plan.Opens() && !d.allowPublic {
		return &failure.Error{Exit: failure.ExitRefused, Code: "opens-members-paths", Message: "paths that only members may see now would become public", Fix: "guard them in \"routes\", or deploy with --allow-public if that is meant"}
	}
	if !plan.Changes && !d.preview && d.at == "" {
		return d.alreadyLive(ctx)
	}
	return d.send(ctx, site, live)
}

// createPage makes the site of --create. The folder is linked to it at once, so that it
// is made once.
func (d *deployment) createPage(ctx context.Context) error {
	if d.create == "" {
		return nil
	}
	if d.site != "" {
		return &failure.Error{
			Exit: failure.ExitUsage, Code: "usage", Message: "--create makes a new site, and this folder is linked to, or --site names, one that there is: " + d.site,
			Fix: "publish there without --create; to make another site, remove .pages/link.json or leave --site out",
		}
	}
	return d.inWorkspace(ctx, func() error {
		made, err := client.Run(ctx, d.client, d.contract.CreatePage, toolapi.CreatePageArgs{Name: toolapi.PageName(d.create), Scope: d.scope()})
		if err != nil {
			return err
		}
		d.term.Progress("made the site %s at %s", wording.Printable(made.Name), wording.Printable(made.Hostname))
		d.workspace, d.site = made.Workspace, made.SiteID
		return d.saveLink()
	})
}

// send uploads the site and goes on with what was asked for.
func (d *deployment) send(ctx context.Context, site *builtSite, live deploy.Live) error {
	base := toolapi.Expect(live.Revision)
	if d.force {
		base = toolapi.BaseRevision{}
	}
	p := &deploy.Progress{}
	stop := d.watchSending(p)
	done, err := d.to.Send(ctx, site.Bundle, base, p)
	stop()
	if err != nil {
		return remoteError(err)
	}
	d.revision = done.Revision
	d.term.Progress("sent %s: revision %s is ready", d.sent(p), wording.Printable(done.Revision))
	if d.link == (link{}) {
		if err := d.saveLink(); err != nil {
			return err
		}
	}
	switch {
	case d.preview:
		return d.makePreview(ctx, done.Revision)
	case d.at != "":
		return d.schedule(ctx)
	}
	return d.publish(ctx, base)
}
