package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// DeployOptions are the options of `pages deploy`.
type DeployOptions struct {
	Remote     remote.Options // Dir is the site that is deployed
	NearestDir string
	Manifest   *manifest.Manifest
	Public     *publicfiles.Listing // the files of its assets folder, if known
	NewBuilder func(context.Context) (*bundler.Builder, error)

	Create      string // create a site of this name, and deploy there
	Plan        bool   // send nothing
	Offline     bool   // with Plan: call no service, and compare with nothing
	PlanOut     string // a file for the plan
	ExitCode    bool   // end with failure.ExitChanges if the plan has changes
	Preview     bool   // publish nothing: give a link
	Expires     time.Duration
	Named       PreviewOptions
	At          string // publish at this time
	ProposeOnly bool
	ProposalOut string             // a file for the proposal
	AllowPublic bool               // allow paths for members to become public
	AllowLoss   toolapi.TableNames // tables that may lose rows and values through the migrations
	Force       bool               // publish over a revision that another person published meanwhile
	SourceMaps  bool
}

// deployment is one run of `pages deploy`.
type deployment struct {
	options  DeployOptions
	session  *remote.Session
	proposer *Proposer

	to       *deploy.Deployer
	page     toolapi.Page
	planned  *deploy.Plan
	revision string
	outcome  string // one sentence
	proposal *deploy.Proposal
	seed     toolapi.SeedText
	preview  *PreviewResult // with a name
}

// Deploy plans, sends, proposes and confirms, up to the step that the options choose.
func Deploy(ctx context.Context, o DeployOptions) error {
	// run opens the session; before that, its terminal is enough to print the state.
	d := &deployment{options: o, session: &remote.Session{Term: o.Remote.Term}}
	d.proposer = &Proposer{Session: d.session, NearestDir: o.NearestDir, ProposeOnly: o.ProposeOnly}
	err := d.run(ctx)
	if err != nil && ctx.Err() != nil {
		d.proposer.printStopped("%s", d.stoppedNote())
	}
	d.writeStepSummary(err)
	if ctx.Err() != nil {
		return err
	}
	if unwritten := d.writeComment(ctx, err); unwritten != nil {
		if err == nil {
			return unwritten
		}
		d.session.Term.Progress("%s %s", d.session.Term.Paint("33", "note:"), failure.Reason(unwritten))
	}
	return err
}

// stoppedNote describes the state of a deploy that a signal ended before its confirmation.
func (d *deployment) stoppedNote() string {
	switch {
	case d.options.Plan:
		return "stopped; nothing was sent"
	case d.revision == "":
		return "stopped; nothing was published. Run it again: it continues where it stopped"
	case d.options.Preview:
		return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again to get a link"
	}
	return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again to propose it"
}

func (d *deployment) run(ctx context.Context) error {
	o, t := d.options, d.options.Remote.Term
	if o.Offline {
		return d.planOffline(ctx)
	}
	s, err := remote.Open(ctx, o.Remote)
	if err != nil {
		return err
	}
	d.session, d.proposer.Session = s, s
	if d.seed, err = o.readSeed(); err != nil {
		return err
	}
	ahead := d.lookAhead(ctx)
	site, err := o.build(ctx)
	ahead.end(err != nil)
	if err != nil {
		return err
	}
	defer site.close()
	if err := d.createPage(ctx); err != nil {
		return err
	}
	page, in, err := s.ChooseSiteOf(ctx, func() (toolapi.PageList, error) { return ahead.pages(ctx, s) })
	if err != nil {
		return err
	}
	d.page = page
	t.Progress("%s %s (%s) in the workspace %s at %s", t.Paint("1", "to"),
		wording.Printable(page.Name), wording.Printable(page.Hostname), wording.Printable(in.Workspace), s.Client.BaseURL())
	d.to = &deploy.Deployer{Client: s.Client, Contract: s.Contract, Workspace: s.Workspace, Site: s.Site, Version: s.Version, Now: t.Now}
	live, err := ahead.live(ctx, d.to, page)
	if err != nil {
		return remote.Error(err)
	}
	plan, err := deploy.Compare(live, site.Bundle)
	if err != nil {
		return err
	}
	d.planned = &plan
	err = d.to.Rehearse(ctx, live, site.Bundle, d.planned)
	if _, refused := errors.AsType[*client.RefusalError](err); refused && o.Preview { // a preview may have other data
		t.Progress("%s publishing it would be refused: %s", t.Paint("33", "note:"), wording.Printable(failure.Reason(err)))
		err = nil
	}
	if err != nil {
		PrintPlan(t, t.Stderr, d.planned)
		return remote.CommandError(err)
	}
	plan.Rehearsal.WarnOfNeedless(o.AllowLoss, plan.DataLoss)
	if o.Plan {
		return d.finishPlan()
	}
	PrintPlan(t, t.Stderr, d.planned)
	if plan.Opens() && !o.AllowPublic {
		return failure.Refused("opens-members-paths", "paths that only members may see now would become public",
			"guard them in \"routes\", or allow it with --allow-public")
	}
	if !plan.Changes && !o.Preview && o.At == "" {
		return d.reportUnchanged(ctx, page)
	}
	if !o.Preview { // a preview has a copy of the database
		if err := d.allowLosses(ctx, plan.DataLoss); err != nil {
			return addNeedless(err, o.AllowLoss, plan.DataLoss)
		}
	}
	return d.send(ctx, site, live)
}

// allowLosses makes a person name the tables that lose rows.
func (d *deployment) allowLosses(ctx context.Context, lost []toolapi.DataLoss) (err error) {
	d.options.AllowLoss, err = nameLosses(ctx, d.session.Term, lost, d.options.AllowLoss, !d.options.ProposeOnly, d.command())
	return err
}

// command is the beginning of the command that repeats the deploy.
func (d *deployment) command() string {
	line := d.proposer.namingSite("pages deploy")
	if d.options.At != "" {
		line += " --at " + wording.ShellWord(d.options.At)
	}
	if d.options.AllowPublic {
		line += " --allow-public"
	}
	return line
}

// createPage creates the site of Create, and links the folder to it at once, so that no second site is created.
func (d *deployment) createPage(ctx context.Context) error {
	s, name := d.session, d.options.Create
	if name == "" {
		return nil
	}
	if s.Site != "" {
		return &failure.Error{
			Exit: failure.ExitUsage, Code: "usage",
			Message: "--create makes a new site, but this folder's link or --site names an existing one: " + s.Site,
			Fix:     "publish there without --create; to make another site, remove .pages/link.json or leave --site out",
		}
	}
	return s.InWorkspace(ctx, func() error {
		made, err := client.Run(ctx,
			s.Client, s.Contract.CreatePage, toolapi.CreatePageArgs{Name: toolapi.PageName(name), Scope: s.Scope()})
		if err != nil {
			return err
		}
		s.Term.Progress("created the site %s at %s", wording.Printable(made.Name), wording.Printable(made.Hostname))
		s.Workspace, s.Site = made.Workspace, made.SiteID
		return s.SaveLink()
	})
}

// send uploads the site, and then publishes, schedules or previews the revision.
func (d *deployment) send(ctx context.Context, site *upload, live deploy.Live) error {
	t := d.session.Term
	base := toolapi.Expect(live.Revision)
	if d.options.Force {
		base = toolapi.BaseRevision{}
	}
	p := &deploy.Progress{}
	stop := showSending(t, p)
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
	case d.options.Named.Name != "":
		return d.deployNamed(ctx)
	case d.options.Preview:
		outcome, result, err := makePreview(ctx, d.session, d.revision, d.options.Expires)
		if err != nil {
			return err
		}
		return d.finish(outcome, result)
	case d.options.At != "":
		return d.schedule(ctx)
	}
	return d.publish(ctx, base)
}

// publish proposes the revision, and asks a person to confirm it.
func (d *deployment) publish(ctx context.Context, base toolapi.BaseRevision) error {
	p, err := d.propose(ctx, func() (*deploy.Proposal, error) {
		return d.to.ProposePublish(ctx, d.revision, base, d.options.AllowLoss)
	})
	if err != nil {
		return remote.CommandError(err)
	}
	if p == nil {
		return d.alreadyLive(ctx)
	}
	resp, err := d.decide(ctx, p)
	if deploy.Stale(err) { // another deploy was faster; if its bundle is equal, no work remains
		live, err := d.to.Look(ctx)
		if err != nil {
			return remote.Error(err)
		}
		if live.Revision == d.revision {
			return d.alreadyLive(ctx)
		}
		return remote.Error(&deploy.ConflictError{Live: live.Revision})
	}
	if err != nil {
		return err
	}
	var done toolapi.Publish
	if err := json.Unmarshal(resp.Body, &done); err != nil {
		return err
	}
	url := d.session.Client.SiteURL(done.Hostname)
	return d.finish(deploy.Serving(url+" with revision "+done.Revision, &done.Revision, done.ServingNow),
		Result{State: string(done.State), URL: url, Revision: done.Revision, ServingNow: &done.ServingNow})
}

// propose creates a proposal. The service may know of data losses that the plan could not find: propose then tries once more with the
// losses that a person allows.
func (d *deployment) propose(ctx context.Context, call func() (*deploy.Proposal, error)) (*deploy.Proposal, error) {
	p, err := call()
	refused, ok := errors.AsType[*client.RefusalError](err)
	if ok && refused.Refusal.Code == toolapi.CodeDataLoss && len(refused.Refusal.DataLoss) > 0 {
		if err := d.allowLosses(ctx, refused.Refusal.DataLoss); err != nil {
			return nil, err
		}
		p, err = call()
	}
	if err == nil && p != nil && p.Rehearsal != nil {
		d.adoptRehearsal(p.Migrated)
	}
	return p, err
}

// adoptRehearsal copies the rehearsal of a proposal into the plan, and prints the new lines.
func (d *deployment) adoptRehearsal(of toolapi.Migrated) {
	t, before := d.session.Term, d.planned.Rehearsal
	d.planned.DataLoss, d.planned.Rehearsal = of.DataLoss, *of.Rehearsal
	if t.JSON {
		return
	}
	if before.State == toolapi.RehearsalSkipped && of.Rehearsal.State != toolapi.RehearsalSkipped {
		printRehearsal(t, t.Stderr, d.planned)
		return
	}
	for _, w := range of.Rehearsal.Warnings {
		if !slices.Contains(before.Warnings, w) {
			t.ProgressWarning("%s", wording.Printable(w))
		}
	}
}

// decide asks a person to confirm a proposal.
func (d *deployment) decide(ctx context.Context, p *deploy.Proposal) (client.Response, error) {
	d.proposal = p
	if file := d.options.ProposalOut; file != "" {
		text, err := json.MarshalIndent(p, "", "  ")
		if err == nil {
			err = userfile.WritePrivate(d.session.Term.Path(file), append(text, '\n'))
		}
		if err != nil {
			return client.Response{}, failure.Resource("proposal-unwritable",
				file+" cannot be written", "name a writable file", err)
		}
	}
	resp, err := d.proposer.decide(ctx, p)
	d.proposer.printConfirmLine(err)
	return resp, err
}

// schedule proposes the revision for a later time.
func (d *deployment) schedule(ctx context.Context) error {
	p, err := d.propose(ctx, func() (*deploy.Proposal, error) {
		return d.to.ProposeSchedule(ctx, d.revision, d.options.At, d.options.AllowLoss)
	})
	if err != nil || p == nil {
		return remote.CommandError(err)
	}
	resp, err := d.decide(ctx, p)
	if err != nil {
		return err
	}
	var done toolapi.SchedulePublish
	if err := json.Unmarshal(resp.Body, &done); err != nil {
		return err
	}
	return d.finish(d.proposer.scheduleNote(done),
		Result{State: string(done.State), URL: d.session.Client.SiteURL(done.Hostname), Revision: done.Revision, At: done.At})
}

// alreadyLive reports a site that has the bundle live already. It fetches the state of the site again, and checks its address.
func (d *deployment) alreadyLive(ctx context.Context) error {
	s := d.session
	list, err := deploy.Pages(ctx, s.Client, s.Contract, s.Workspace)
	if err != nil {
		return remote.Error(err)
	}
	page, err := deploy.FindPage(list, d.page.SiteID)
	if err != nil {
		return remote.Error(err)
	}
	return d.reportUnchanged(ctx, page)
}

// reportUnchanged reports a site that has the bundle live already. page was read a moment ago.
func (d *deployment) reportUnchanged(ctx context.Context, page toolapi.Page) error {
	s := d.session
	domains, err := client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: s.Scope()})
	if err != nil {
		return remote.Error(err)
	}
	now := slices.ContainsFunc(domains.Domains, func(d toolapi.Domain) bool { return d.Hostname == page.Hostname && d.ServingNow })
	result := Result{State: "unchanged", URL: s.Client.SiteURL(page.Hostname), ServingNow: &now}
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

// PlanReport is the output of `pages deploy --plan --json`.
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

// finishPlan prints the plan, if the command does nothing else.
func (d *deployment) finishPlan() error {
	s, t := d.session, d.session.Term
	report := PlanReport{true, s.Client.BaseURL(), s.Workspace, s.Site, d.page.Name, d.page.Hostname, d.planned.Opens(), *d.planned}
	if file := d.options.PlanOut; file != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			err = os.WriteFile(t.Path(file), append(text, '\n'), 0o644)
		}
		if err != nil {
			return failure.Resource("plan-unwritable", file+" cannot be written", "name a writable file", err)
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

// planOffline plans without a service, as for a site that was never published.
func (d *deployment) planOffline(ctx context.Context) error {
	site, err := d.options.build(ctx)
	if err != nil {
		return err
	}
	defer site.close()
	plan, err := deploy.Compare(deploy.Live{}, site.Bundle)
	if err != nil {
		return err
	}
	plan.MissingSecrets = []string{} // only a service knows
	d.planned, d.outcome = &plan, "no service was asked: everything counts as new"
	d.page.Name = filepath.Base(d.options.Remote.Dir)
	if t := d.session.Term; t.JSON {
		t.PrintJSON(PlanReport{OK: true, SiteName: d.page.Name, Plan: plan})
	} else {
		t.Progress("%s", d.outcome)
		PrintPlan(t, t.Stdout, d.planned)
	}
	return nil
}

// maxSummary is a part of GitHub's limit for the summary of a step, in bytes: other commands write to it too.
const maxSummary = 256 << 10

// writeStepSummary adds the plan and the result to the summary of a step in GitHub Actions.
func (d *deployment) writeStepSummary(err error) {
	file, _ := d.session.Term.Lookup("GITHUB_STEP_SUMMARY")
	if file == "" || d.planned == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### pages deploy: %s\n\n", markdown(d.page.Name))
	if f, ok := errors.AsType[*failure.Error](err); ok {
		d.outcome = f.Message
		if f.Code == CodeOutstanding {
			d.outcome = fmt.Sprintf("Proposed: %s A member confirms it with:\n\n```sh\n%s\n# or elsewhere\n%s\n```\n",
				markdown(f.Detail.Summary), f.Detail.Confirm, f.Detail.Elsewhere)
		}
	}
	if d.proposal == nil || err == nil {
		d.outcome = markdown(d.outcome)
	}
	if lost := d.planned.DataLoss; len(lost) > 0 {
		fmt.Fprintf(&b, "> [!CAUTION]\n> **Data loss: %s.**\n\n", markdown(inWords(toolapi.SumLosses(lost))))
	}
	b.WriteString(d.outcome + "\n\n")
	d.writePlan(&b)
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = out.WriteString(b.String())
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		d.session.Term.Progress("%s the step's summary cannot be written: %s", d.session.Term.Paint("33", "note:"), failure.Reason(err))
	}
}

// writePlan writes the plan as folded Markdown.
func (d *deployment) writePlan(b *strings.Builder) {
	b.WriteString("<details><summary>Plan</summary>\n\n````text\n")
	for _, line := range planLines(d.planned, true) {
		if b.Len() > maxSummary {
			b.WriteString("…\n")
			break
		}
		b.WriteString(strings.ReplaceAll(line.text, "````", "```'") + "\n")
	}
	b.WriteString("````\n\n</details>\n\n")
}

// markdown escapes a text against Markdown and HTML, on one line. A name after "@" notifies no one.
func markdown(text string) string {
	return strings.NewReplacer(
		"@", "@&#8203;", "~", "\\~", "\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
		"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#",
	).Replace(wording.Printable(text))
}
