package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/toolapi"
)

// This file rehearses the migrations of a revision before a person approves, and checks the real run against the approval. The host
// rehearses on a copy of the site's database, outside of any transaction of the service. A person approves up to a number of rows of a
// table. For tables that grow all the time, a comment above the statement allows any number.

// rehearsed is the rehearsal of a call that proposes.
type rehearsed struct {
	target   string // of the plan that was rehearsed
	migrated toolapi.Migrated
}

// plannedRehearsal is the revision whose migrations a call would run, with the target of its plan.
type plannedRehearsal struct {
	releaseChange

	target string
}

// errPlanChanged means that the effect of a call has changed since its rehearsal.
var errPlanChanged = errors.New("the effect of the call has changed since its rehearsal")

// rehearse runs the migrations of the revision that a call proposes on a copy.
func (h handler) rehearse(ctx context.Context, c *call) error {
	c.rehearsed = nil
	if !h.migrates || c.service.host == nil || c.body.Has("confirmation_id") {
		return nil
	}
	var planned plannedRehearsal
	var r Release
	err := c.lookAhead(ctx, h.needs, func() (err error) {
		if planned, err = h.plannedRehearsal(c); err != nil || planned.site == "" {
			return err
		}
		r, err = c.service.releaseOf(c.tx, planned.site, planned.revision)
		return err
	})
	if broken, ok := errors.AsType[*ReleaseError](err); ok {
		return refuseAt(broken.Code, broken.Message, "revision", "")
	}
	if err != nil || planned.site == "" {
		return err
	}
	r.Force, r.Restore = planned.force, planned.restore.restoration()
	migrated, err := c.service.host.Rehearse(ctx, r)
	if err := refusedRelease(err, "revision"); err != nil {
		return err
	}
	c.rehearsed = &rehearsed{planned.target, migrated}
	return err
}

// releaseFix is the fix for a release that was refused with a code; "" when the message includes it.
func releaseFix(code string) string {
	if code == toolapi.CodeMigrationFailed {
		return "correct the migration, and upload the site again"
	}
	return ""
}

// judgeProposal refuses a proposal whose migrations lose data without permission. It returns their effect, in words that end the summary.
func (c *call) judgeProposal(target string, allowed toolapi.TableNames) (words string, err error) {
	if c.rehearsed == nil {
		return "", nil
	}
	if c.rehearsed.target != target {
		return "", errPlanChanged
	}
	m := &c.rehearsed.migrated
	if lost := toolapi.UnallowedLosses(m.DataLoss, allowed); len(lost) > 0 {
		names := toolapi.LosingTables(lost)
		text, err := json.Marshal(names)
		if err != nil {
			return "", err
		}
		return "", &refusalError{refusal: toolapi.ToolRefusal{
			Code: toolapi.CodeDataLoss, Path: "allow_data_loss", DataLoss: lost,
			Message: "The migrations of this revision remove rows or values: " + placedLosses(lost) + "." +
				needlessNames(allowed, m.DataLoss) + " Nothing was proposed.",
			Fix: "to allow that, send allow_data_loss: " + string(text) +
				", or write the comment " + migrate.LossComment(names...) + " above the statement",
		}}
	}
	m.Rehearsal.WarnOfNeedless(allowed, m.DataLoss)
	return lossWords(m), nil
}

// needlessNames lists the allowed tables without a loss: a name may be mistyped.
func needlessNames(allowed toolapi.TableNames, lost []toolapi.DataLoss) string {
	names := allowed.Needless(lost)
	if len(names) == 0 {
		return ""
	}
	return " No data is lost from " + shortNames(names) + ", which allow_data_loss names."
}

const (
	maxShownLosses = 3  // in one sentence
	maxShownTable  = 40 // characters of a table's name in a sentence
)

// shownLosses describes losses in one sentence, by table and column.
func shownLosses(all []toolapi.DataLoss) string {
	var parts []string
	sums := toolapi.SumLosses(all)
	for i, sum := range sums {
		if i == maxShownLosses {
			parts = append(parts, fmt.Sprintf("and %d more", len(sums)-i))
			break
		}
		sum.Table, sum.Column = shortName(sum.Table), shortName(sum.Column)
		parts = append(parts, sum.String())
	}
	return strings.Join(parts, ", ")
}

// placedLosses describes losses with the place of each statement.
func placedLosses(all []toolapi.DataLoss) string {
	var parts []string
	for i, l := range all {
		if i == maxShownLosses {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		sum := l.Of()
		sum.Table, sum.Column = shortName(sum.Table), shortName(sum.Column)
		parts = append(parts, fmt.Sprintf("%s (%s:%d: %s)", sum, l.File, l.Line, l.Statement))
	}
	return strings.Join(parts, "; ")
}

func shortName(name string) string {
	if r := []rune(name); len(r) > maxShownTable {
		return string(r[:maxShownTable]) + "…"
	}
	return name
}

// lossWords ends the summary of a proposal: " people loses 2 rows."
func lossWords(m *toolapi.Migrated) string {
	switch {
	case len(m.DataLoss) > 0:
		return " " + shownLosses(m.DataLoss) + "."
	case m.Rehearsal != nil && m.Rehearsal.State == toolapi.RehearsalSkipped:
		return " Its migrations were not rehearsed: " + m.Rehearsal.Reason + "."
	}
	return ""
}

// keepRehearsal stores the effect of a proposal's migrations with it, in the form that the person sees.
func (c *call) keepRehearsal(proposal string) error {
	if c.rehearsed == nil {
		return nil
	}
	text, err := json.Marshal(c.rehearsed.migrated)
	if err != nil {
		return err
	}
	return c.exec("UPDATE proposals SET migrated = ? WHERE id = ?", string(text), proposal)
}

// approval holds the losses that a person agreed to: the tables that the proposal names, and the counts that it showed.
type approval struct {
	Allowed  toolapi.TableNames `json:"allowed,omitempty"`
	Migrated toolapi.Migrated   `json:"migrated"`
}

// approvalOf reads the losses that a proposal showed. A proposal of an older version showed none.
func (t tx) approvalOf(proposal string, allowed toolapi.TableNames) (a approval, err error) {
	var migrated sql.NullString
	if _, err := t.queryOne("SELECT migrated FROM proposals WHERE id = ?", []any{proposal}, &migrated); err != nil {
		return a, err
	}
	a.Allowed = allowed
	if migrated.Valid {
		err = json.Unmarshal([]byte(migrated.String), &a.Migrated)
	}
	return a, err
}

// judge refuses migrations with losses beyond the approval. It runs before they are committed.
func (a approval) judge(now toolapi.Migrated) error {
	lost := toolapi.UnallowedLosses(now.DataLoss, a.Allowed)
	if len(lost) > 0 {
		return lossRefusal(lost, "The migrations would remove data without approval: "+placedLosses(lost)+"; nothing was done.")
	}
	if r := a.Migrated.Rehearsal; r == nil || r.State == toolapi.RehearsalSkipped {
		return nil // its tables were allowed with any number of rows
	}
	if r := now.Rehearsal; r.State == toolapi.RehearsalSkipped { // the approved numbers cannot be enforced
		return refuse(toolapi.CodeMigrationFailed, "The migrations can no longer be rehearsed: "+r.Reason+"; nothing was done.")
	}
	agreed := map[string]int64{}
	key := func(l toolapi.LossOf) string { return strings.ToLower(l.Table + "\x00" + l.Column) }
	for _, sum := range toolapi.SumLosses(a.Migrated.DataLoss) {
		agreed[key(sum)] = sum.Rows
	}
	for _, sum := range toolapi.SumLosses(toolapi.UnallowedLosses(now.DataLoss, nil)) {
		if n := agreed[key(sum)]; sum.Rows > n {
			return lossRefusal(lossesOf(now.DataLoss, sum.Table), fmt.Sprintf("%s now, but %d %s approved; nothing was done.",
				sum, n, map[bool]string{true: "was", false: "were"}[n == 1]))
		}
	}
	return nil
}

// lossesOf returns the losses of one table.
func lossesOf(all []toolapi.DataLoss, table string) (of []toolapi.DataLoss) {
	for _, l := range all {
		if (toolapi.TableNames{table}).Contains(l.Table) {
			of = append(of, l)
		}
	}
	return of
}

// lossRefusal refuses a confirmation, or a scheduled publish.
func lossRefusal(lost []toolapi.DataLoss, message string) error {
	return &refusalError{refusal: toolapi.ToolRefusal{
		Code: toolapi.CodeDataLoss, Path: "confirmation_id", Message: message, DataLoss: lost,
		Fix: "propose again to see the current losses; if rows arrive all the time, write the comment " +
			migrate.LossComment(lost[0].Table) + " above the statement",
	}}
}

// rehearseTool is page.rehearse, after rehearseText has run outside of the transaction.
func (c *call) rehearseTool(args toolapi.RehearseArgs) (result toolapi.Rehearse, err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return result, err
	}
	if args.Revision != "" {
		if _, err := c.revision(s, string(args.Revision)); err != nil {
			return result, err
		}
	}
	result.SiteID = s.id
	result.DataLoss, result.Rehearsal = []toolapi.DataLoss{}, toolapi.NewRehearsal(toolapi.RehearsalSkipped, "the service runs no pages")
	if c.rehearsed != nil {
		result.DataLoss, result.Rehearsal = c.rehearsed.migrated.DataLoss, *c.rehearsed.migrated.Rehearsal
	}
	return result, nil
}

// rehearseText runs the migrations of a call of page.rehearse on a copy.
func rehearseText(ctx context.Context, c *call) error {
	c.rehearsed = nil
	if c.service.host == nil {
		return nil
	}
	var args toolapi.RehearseArgs
	if err := c.body.Decode(&args); err != nil {
		return err
	}
	var r Release
	err := c.lookAhead(ctx, uploadPages, func() error {
		s, err := c.site(args.SiteID)
		switch {
		case err != nil:
		case args.Revision == "":
			r, err = c.service.liveRelease(c.tx, s)
		default:
			var revision string
			if revision, err = c.revision(s, string(args.Revision)); err == nil {
				r, err = c.service.releaseOf(c.tx, s.id, revision)
			}
		}
		return err
	})
	if broken, ok := errors.AsType[*ReleaseError](err); ok {
		return refuseAt(broken.Code, broken.Message, "revision", "")
	}
	if err != nil || r.Site == "" {
		return err
	}
	if r.Force = args.Force; args.Revision == "" {
		r.Proposed, err = proposedMigrations(r, args)
	} else if len(args.Migrations)+len(args.Unchanged)+len(args.Tables)+len(args.Folder) > 0 {
		err = invalid(toolapi.Issue{Path: "revision", Message: "excludes migrations, unchanged, folder and tables"})
	}
	if err != nil {
		return err
	}
	migrated, err := c.service.host.Rehearse(ctx, r)
	if broken, ok := errors.AsType[*ReleaseError](err); ok {
		return refuseAt(broken.Code, broken.Message, "migrations", releaseFix(broken.Code))
	}
	c.rehearsed = &rehearsed{migrated: migrated}
	return err
}

// liveRelease is the live release of a site; it has no bundle if none is live, or if its contents are not stored.
func (s *Service) liveRelease(t tx, of siteRow) (r Release, err error) {
	if of.live.Valid {
		r, err = s.releaseOf(t, of.id, of.live.String)
		if _, gone := errors.AsType[*ReleaseError](err); !gone {
			return r, err
		}
	}
	r.Site = of.id
	_, err = t.queryOne("SELECT workspace_id FROM sites WHERE id = ?", []any{of.id}, &r.WorkspaceID)
	return r, err
}

// proposedMigrations returns the migrations of a call of page.rehearse.
func proposedMigrations(r Release, args toolapi.RehearseArgs) (*ProposedMigrations, error) {
	live := map[string]sitefile.File{}
	if r.Bundle != nil {
		for _, f := range r.Bundle.Migrations() {
			live[path.Base(f.Path)] = f
		}
	}
	var issues []toolapi.Issue
	seen := map[string]bool{}
	all := &ProposedMigrations{Folder: sitepath.CleanPath(string(args.Folder)), Tables: args.Tables}
	if all.Folder != "" && !isFolder(all.Folder) {
		issues = append(issues, toolapi.Issue{Path: "folder", Message: "must be the path of a folder of the site"})
	}
	check := func(argument, name string) bool {
		problem := ""
		switch {
		case !isMigrationName(name):
			problem = "must be the name of a .sql file, without a folder"
		case seen[name]:
			problem = "is listed twice"
		}
		seen[name] = true
		if problem != "" {
			issues = append(issues, toolapi.Issue{Path: argument, Message: problem})
		}
		return problem == ""
	}
	for i, m := range args.Migrations {
		if check(fmt.Sprintf("migrations.%d.name", i), string(m.Name)) {
			all.Files = append(all.Files, ProposedMigration{Name: string(m.Name), Text: []byte(m.SQL)})
		}
	}
	for i, name := range args.Unchanged {
		at := fmt.Sprintf("unchanged.%d", i)
		f, there := live[name]
		switch {
		case !check(at, name):
		case !there:
			issues = append(issues, toolapi.Issue{Path: at, Message: "is not a migration of the live revision"})
		default:
			all.Files = append(all.Files, ProposedMigration{Name: name, Stored: &f})
		}
	}
	if len(issues) > 0 {
		return nil, invalid(issues...)
	}
	return all, nil
}

// isFolder reports whether a path is a valid folder on every system.
func isFolder(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\:\x00") &&
		!slices.ContainsFunc(strings.Split(name, "/"), func(segment string) bool { return len(segment) > limits.MaxSegmentBytes })
}

// isMigrationName reports whether a name is valid for a migration on every system.
func isMigrationName(name string) bool {
	return path.Ext(name) == ".sql" && !strings.ContainsAny(name, "/\\:\x00") && !strings.HasPrefix(name, ".")
}
