package publish

import (
	"context"
	"encoding/json"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Deploy plans, sends, proposes and confirms, as far as the options say.
func Deploy(ctx context.Context, o DeployOptions) error {
	// The session is opened by run; until then its terminal is enough to say what stands.
	d := &deployment{options: o, session: &remote.Session{Term: o.Remote.Term}}
	d.proposer = &Proposer{Session: d.session, NearestDir: o.NearestDir, ProposeOnly: o.ProposeOnly}
	err := d.run(ctx)
	if err != nil && ctx.Err() != nil {
		d.proposer.stopped("%s", d.standing())
	}
	d.summarize(err)
	return err
}

func (d *deployment) run(ctx context.Context) error {
	o, t := d.options, d.options.Remote.Term
	s, err := remote.Open(ctx, o.Remote)
	if err != nil {
		return err
	}
	d.session, d.proposer.Session = s, s
	site, err := o.build(ctx)
	if err != nil {
		return err
	}
	defer site.close()
	if err := d.createPage(ctx); err != nil {
		return err
	}
	page, in, err := s.ChooseSite(ctx)
	if err != nil {
		return err
	}
	d.page = page
	t.Progress("%s %s (%s) in the workspace %s at %s", t.Paint("1", "to"),
		wording.Printable(page.Name), wording.Printable(page.Hostname), wording.Printable(in.Workspace), s.Client.BaseURL())
	d.to = &deploy.Deployer{Client: s.Client, Contract: s.Contract, Workspace: s.Workspace, Site: s.Site, Version: s.Version, Now: t.Now}
	live, err := d.to.Look(ctx)
	if err != nil {
		return remote.Error(err)
	}
	plan, err := deploy.Compare(live, site.Bundle)
	if err != nil {
		return err
	}
	d.planned = &plan
	if o.Plan {
		return d.finishPlan()
	}
	PrintPlan(t, t.Stderr, d.planned)
	if plan.Opens() && !o.AllowPublic {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "opens-members-paths", Message: "paths that only members may see now would become public",
			Fix: "guard them in \"routes\", or deploy with --allow-public if that is meant",
		}
	}
	if !plan.Changes && !o.Preview && o.At == "" {
		return d.alreadyLive(ctx)
	}
	return d.send(ctx, site, live)
}

// createPage makes the site of Create. The folder is linked to it at once, so that it is made once.
func (d *deployment) createPage(ctx context.Context) error {
	s, name := d.session, d.options.Create
	if name == "" {
		return nil
	}
	if s.Site != "" {
		return &failure.Error{
			Exit: failure.ExitUsage, Code: "usage",
			Message: "--create makes a new site, and this folder is linked to, or --site names, one that there is: " + s.Site,
			Fix:     "publish there without --create; to make another site, remove .pages/link.json or leave --site out",
		}
	}
	return s.InWorkspace(ctx, func() error {
		made, err := client.Run(
			ctx,
			s.Client,
			s.Contract.CreatePage,
			toolapi.CreatePageArgs{Name: toolapi.PageName(name), Scope: s.Scope()},
		)
		if err != nil {
			return err
		}
		s.Term.Progress("made the site %s at %s", wording.Printable(made.Name), wording.Printable(made.Hostname))
		s.Workspace, s.Site = made.Workspace, made.SiteID
		return s.SaveLink()
	})
}

// send uploads the site and goes on with what was asked for.
func (d *deployment) send(ctx context.Context, site *upload, live deploy.Live) error {
	t := d.session.Term
	base := toolapi.Expect(live.Revision)
	if d.options.Force {
		base = toolapi.BaseRevision{}
	}
	p := &deploy.Progress{}
	stop := watchSending(t, p)
	done, err := d.to.Send(ctx, site.Bundle, base, p)
	stop()
	if err != nil {
		return remote.Error(err)
	}
	d.revision = done.Revision
	t.Progress("sent %s (%s; %d there already): revision %s is ready",
		wording.Count(int(p.BlobsStored.Load()), "file"), wording.Size(p.BytesSent.Load()), p.Had.Load(), wording.Printable(done.Revision))
	if d.session.Link == (remote.Link{}) {
		if err := d.session.SaveLink(); err != nil {
			return err
		}
	}
	switch {
	case d.options.Preview:
		return d.preview(ctx)
	case d.options.At != "":
		return d.schedule(ctx)
	}
	return d.publish(ctx, base)
}

// publish proposes the revision, and takes it to a person.
func (d *deployment) publish(ctx context.Context, base toolapi.BaseRevision) error {
	p, err := d.to.ProposePublish(ctx, d.revision, base)
	if err != nil {
		return remote.Error(err)
	}
	if p == nil {
		return d.alreadyLive(ctx)
	}
	a, err := d.settle(ctx, p)
	if deploy.Stale(err) {
		return d.stale(ctx)
	}
	if err != nil {
		return err
	}
	var said toolapi.Publish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	url := d.session.Client.SiteURL(said.Hostname)
	return d.finish(deploy.Serving(url+" with revision "+said.Revision, &said.Revision, said.ServingNow),
		Result{State: string(said.State), URL: url, Revision: said.Revision, ServingNow: &said.ServingNow})
}

// settle takes a proposal to a person.
func (d *deployment) settle(ctx context.Context, p *deploy.Proposal) (client.Answer, error) {
	d.proposal = p
	if file := d.options.ProposalOut; file != "" {
		text, err := json.MarshalIndent(p, "", "  ")
		if err == nil {
			err = userfile.WritePrivate(d.session.Term.Path(file), append(text, '\n'))
		}
		if err != nil {
			return client.Answer{}, failure.Resource(
				"proposal-unwritable",
				file+" cannot be written",
				"give a file that you may write to",
				err,
			)
		}
	}
	a, err := d.proposer.decide(ctx, p)
	d.proposer.printConfirmLine(err)
	return a, err
}

// stale is a confirmation that came too late: another deploy was faster. One of the same bundle has done what was asked for.
func (d *deployment) stale(ctx context.Context) error {
	live, err := d.to.Look(ctx)
	if err != nil {
		return remote.Error(err)
	}
	if live.Revision == d.revision {
		return d.alreadyLive(ctx)
	}
	return remote.Error(&deploy.ConflictError{Live: live.Revision})
}

// schedule proposes the revision for later.
func (d *deployment) schedule(ctx context.Context) error {
	p, err := d.to.ProposeSchedule(ctx, d.revision, d.options.At)
	if err != nil || p == nil {
		return remote.CommandError(err)
	}
	a, err := d.settle(ctx, p)
	if err != nil {
		return err
	}
	var said toolapi.SchedulePublish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	return d.finish(
		scheduleNote(said),
		Result{State: string(said.State), URL: d.session.Client.SiteURL(said.Hostname), Revision: said.Revision, At: said.At},
	)
}

// preview makes a link that shows the revision.
func (d *deployment) preview(ctx context.Context) error {
	outcome, result, err := makePreview(ctx, d.session, d.revision, d.options.Expires)
	if err != nil {
		return err
	}
	return d.finish(outcome, result)
}

// alreadyLive says what is served of a page that shows the bundle.
func (d *deployment) alreadyLive(ctx context.Context) error {
	page, now, err := serving(ctx, d.session, d.page)
	if err != nil {
		return err
	}
	result := Result{State: "unchanged", URL: d.session.Client.SiteURL(page.Hostname), ServingNow: &now}
	if page.LiveRevision != nil {
		result.Revision = *page.LiveRevision
	}
	return d.finish("nothing is new: "+deploy.Serving(result.URL, page.LiveRevision, now), result)
}

func (d *deployment) finish(outcome string, r Result) error {
	d.outcome, r.Plan = outcome, d.planned
	printResult(d.session, outcome, r)
	return nil
}

// PlanReport is what `pages deploy --plan --json` prints.
type PlanReport struct {
	OK        bool   `json:"ok"`
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
	SiteID    string `json:"site_id"`
	SiteName  string `json:"site_name"`
	Hostname  string `json:"hostname"`
	Opens     bool   `json:"opens"`
	deploy.Plan
}

// finishPlan prints the plan alone.
func (d *deployment) finishPlan() error {
	s, t := d.session, d.session.Term
	report := PlanReport{true, s.Client.BaseURL(), s.Workspace, s.Site, d.page.Name, d.page.Hostname, d.planned.Opens(), *d.planned}
	if file := d.options.PlanOut; file != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			err = os.WriteFile(t.Path(file), append(text, '\n'), 0o644)
		}
		if err != nil {
			return failure.Resource("plan-unwritable", file+" cannot be written", "give a file that you may write to", err)
		}
	}
	if t.JSON {
		t.PrintJSON(report)
	} else {
		PrintPlan(t, t.Stdout, d.planned)
	}
	d.outcome = "this is a plan: nothing was sent"
	if d.options.ExitCode && d.planned.Changes {
		return failure.StatusError(failure.ExitChanges)
	}
	return nil
}
