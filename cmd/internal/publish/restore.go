package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/sqltext"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// RestoreOptions are the options of `pages restore`.
type RestoreOptions struct {
	Before   string // a revision
	At       string // a time with its offset, how long ago, or the id of a restore point
	Into     string
	Leads    string
	Tables   []string
	KeepCode bool // keep the live revision
}

var pointID = regexp.MustCompile(`^p[0-9]+$`)

// ParseDuration is time.ParseDuration, and takes days too, up to 9999, such as 14d.
func ParseDuration(text string) (time.Duration, error) {
	const day, most = 24 * time.Hour, 9999
	number, ok := strings.CutSuffix(text, "d")
	if n, err := strconv.Atoi(number); ok && err == nil && n >= 0 && n <= most {
		return time.Duration(n) * day, nil
	}
	return time.ParseDuration(text)
}

// arguments are the arguments of page.restore_data.
func (o RestoreOptions) arguments(s *remote.Session) (args toolapi.RestoreDataArgs, err error) {
	args = toolapi.RestoreDataArgs{
		SiteID: toolapi.UUID(s.Site), BeforeRevision: toolapi.Name(o.Before), Into: toolapi.RestoreInto(o.Into),
		Leads: toolapi.RestoreLeads(o.Leads), Tables: o.Tables, Scope: s.Scope(),
	}
	if o.KeepCode {
		args.Revision = toolapi.CodeOfLive
	}
	if o.At == "" {
		return args, nil
	}
	if pointID.MatchString(o.At) {
		args.Point = toolapi.PointID(o.At)
		return args, nil
	}
	if _, ok := toolapi.Timestamp(o.At).Moment(); ok {
		args.At = toolapi.Timestamp(o.At)
		return args, nil
	}
	ago, err := ParseDuration(o.At)
	if err != nil || ago <= 0 {
		return args, failure.Usage("--at is %q; it must be a restore point, such as p12, how long ago, such as 10m, 3h or 2d, or a time "+
			"with its offset, such as 2026-12-01T09:00:00+01:00", o.At)
	}
	args.At = toolapi.Timestamp(s.Term.Now().Add(-ago).UTC().Format(time.RFC3339Nano))
	return args, nil
}

// TableList reads names of tables, separated by commas, in SQL quotes if they need them.
func TableList(texts []string) (tables []string, err error) {
	text := strings.Join(texts, ",")
	for rest := text; ; {
		name, more, found := sqltext.CutNames(rest, ',')
		if name = sqltext.Unquoted(strings.TrimSpace(name)); name == "" {
			return nil, failure.Usage(
				"--tables is %q; it must be names of tables with commas between them, such as people,\"old trips\"", text)
		}
		tables, rest = append(tables, name), more
		if !found {
			return tables, nil
		}
	}
}

// Check refuses options that exclude each other, and a time in the future.
func (o RestoreOptions) Check(now time.Time) error {
	if at, ok := toolapi.Timestamp(o.At).Moment(); ok && at.After(now.Add(time.Minute)) { // clocks differ
		return failure.Usage("--at is %s, which is in the future", o.At)
	}
	switch {
	case o.Before == "" && o.At == "":
		return failure.Usage("choose the data to restore: --before REVISION or --at TIME; --list shows the restore points")
	case o.Before != "" && o.At != "":
		return failure.Usage("--before and --at both choose the data to restore; pass one of them")
	case o.Into != "live" && o.Into != "preview":
		return failure.Usage("--into is %q; it must be live or preview", o.Into)
	case o.Leads != "keep" && o.Leads != "drop":
		return failure.Usage("--leads is %q; it must be keep or drop", o.Leads)
	}
	return nil
}

// Restore proposes to restore a restore point, and asks a person to confirm that.
func (p *Proposer) Restore(ctx context.Context, o RestoreOptions) error {
	args, err := o.arguments(p.Session)
	if err != nil {
		return err
	}
	return p.Propose(ctx, p.Session.Contract.RestoreData.Name, args)
}

// RestorePoints lists the restore points of the session's site.
func RestorePoints(ctx context.Context, s *remote.Session) (toolapi.RestorePoints, error) {
	list, err := client.Run(ctx, s.Client, s.Contract.RestorePoints, toolapi.RestorePointsArgs{
		SiteID: toolapi.UUID(s.Site), Scope: s.Scope(),
	})
	return list, remote.Error(err)
}

// PointLine describes a restore point in one line.
func PointLine(p toolapi.RestorePoint, at string) string {
	var rows int64
	for _, t := range p.Tables {
		rows += t.Rows
	}
	live := "unknown"
	if p.Revision != nil {
		live = *p.Revision
	}
	return fmt.Sprintf("%-5s %s  %9s  %8s in %s  live: %s  %s", p.ID, at, wording.Size(p.Bytes), wording.Count(int(rows), "row"),
		wording.Count(len(p.Tables), "table"), wording.Printable(live), pointReason(p))
}

// pointReason gives the reason why a restore point was made.
func pointReason(p toolapi.RestorePoint) string {
	before := ""
	if p.Before != nil {
		before = wording.Printable(*p.Before)
	}
	switch {
	case p.Reason == "publish" && before == "":
		return "before a revision went live"
	case p.Reason == "publish":
		return "before " + before + " went live"
	case p.Reason == "restore":
		return "before " + before + " was restored"
	}
	return "while rows were written"
}

// PrintBound prints which restore points are kept.
func PrintBound(t *terminal.Terminal, list toolapi.RestorePoints) {
	t.Progress("the service keeps %s: at most %d points and %s", wording.Printable(list.Rule), list.MaxPoints, wording.Size(list.MaxBytes))
}

// printRestore prints the effects of a restore on the data, except for lines that it has printed before.
func (p *Proposer) printRestore(m toolapi.Migrated) {
	text := restoreText(m)
	text.lines = slices.DeleteFunc(text.lines, func(l planLine) bool { return slices.Contains(p.restoreShown, l.text) })
	printLines(p.Session.Term, p.Session.Term.Stderr, text.lines)
	for _, l := range text.lines {
		p.restoreShown = append(p.restoreShown, l.text)
	}
}

// restoreText describes the effects of a restore on the data.
func restoreText(m toolapi.Migrated) *planText {
	t := &planText{}
	for _, l := range m.DataLoss {
		what := l.Of().String()
		switch {
		case l.File != "":
			what = fmt.Sprintf("%s of the restore point once more (%s, %s:%d)", what, l.Cause, l.File, l.Line)
		case l.Cause != toolapi.CauseRestoreValues:
			what += ", which are newer"
		}
		t.add("31;1", "! %s", what)
	}
	if m.Rehearsal == nil {
		return t
	}
	for _, c := range m.Rehearsal.Tables {
		t.add("", "  rows of %s: %d, then %d", c.Table, c.Before, c.After)
	}
	if n := len(m.Rehearsal.Files); n > 0 {
		var names []string
		for _, f := range m.Rehearsal.Files {
			names = append(names, f.File)
		}
		verb := map[bool]string{true: "runs", false: "run"}[n == 1]
		t.add("", "  %s again on the data: %s", verb, strings.Join(names, ", "))
	}
	if m.Rehearsal.State == toolapi.RehearsalSkipped {
		t.add("33;1", "the losses are unknown: %s", m.Rehearsal.Reason)
	}
	return t
}

// reportRestore prints the result of a confirmed restore.
func (p *Proposer) reportRestore(body json.RawMessage) error {
	s, t := p.Session, p.Session.Term
	var done toolapi.RestoreData
	if err := json.Unmarshal(body, &done); err != nil {
		return err
	}
	p.printRestore(done.Migrated)
	if done.Preview != nil {
		url := strings.TrimSuffix(s.Client.SiteURL(done.Preview.Hostname), "/") + done.Preview.Path
		t.Progress("a preview with the data of %s, until %s; to end it: pages preview revoke %s",
			wording.Printable(done.Point.ID), wording.Printable(done.Preview.ExpiresAt), wording.Printable(done.Preview.ID))
		fmt.Fprintln(t.Stdout, wording.Printable(url))
		return nil
	}
	url := s.Client.SiteURL(done.Hostname)
	text := deploy.Serving(url+" with revision "+done.Revision+" and the data of "+done.Point.ID, &done.Revision, done.ServingNow)
	t.Progress("%s", wording.Printable(text))
	if done.SavedAs != nil {
		t.Progress("the data from before the restore is in %s: pages restore --at %s brings it back",
			wording.Printable(*done.SavedAs), wording.Printable(*done.SavedAs))
	}
	fmt.Fprintln(t.Stdout, wording.Printable(url))
	return nil
}
