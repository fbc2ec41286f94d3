package service

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file restores the data of a site. The host keeps the restore points and restores them; the service decides: the
// transaction that stores the response of the second call also records the restore, and moves the pointer when old code
// goes live with the data. A host that is killed before it restored the data does so when it opens the site again.

// RestorePoints are the restore points of a site.
type RestorePoints struct {
	Points    []toolapi.RestorePoint // newest first
	Tables    []toolapi.RestoreTable // of the site's database now, sorted by name; none when they were not counted in time
	Rule      string                 // the rule for keeping points, in words
	MaxPoints int
	MaxBytes  int64
}

// Restoration describes the data that a release restores.
type Restoration struct {
	// ID is the name of this restore in the host's files.
	ID string `json:"-"`
	// Point is the id of the restore point.
	Point string `json:"point"`
	// Tables are the tables to restore; none means the whole database.
	Tables []string `json:"tables,omitempty"`
	// KeepLeads keeps newer rows of the submissions table.
	KeepLeads bool `json:"keep_leads,omitempty"`
	// Harmless is set for a preview, which leaves the site's own data unchanged.
	Harmless bool `json:"-"`
}

// Restored is the data of a prepared restore.
type Restored struct {
	// Saved is the restore point of the present data.
	Saved string
	// Migrations are the names that the site's database will have, sorted bytewise.
	Migrations []string
}

// restoreChange is the Restoration of a releaseChange, which is compared; the zero value is none.
type restoreChange struct {
	id, point string
	tables    string // joined by zeros
	keepLeads bool
	harmless  bool
}

func (r restoreChange) restoration() *Restoration {
	if r.point == "" {
		return nil
	}
	o := &Restoration{ID: r.id, Point: r.point, KeepLeads: r.keepLeads, Harmless: r.harmless}
	if r.tables != "" {
		o.Tables = strings.Split(r.tables, "\x00")
	}
	return o
}

// loadPoints reads the restore points of a call's site, before its transaction.
func loadPoints(ctx context.Context, c *call) error {
	c.points = RestorePoints{Points: []toolapi.RestorePoint{}}
	if c.service.host == nil {
		return nil
	}
	var args struct {
		SiteID toolapi.UUID `json:"site_id"`
	}
	text, err := c.body.Arguments()
	if err == nil {
		err = json.Unmarshal(text, &args)
	}
	if err != nil {
		return err
	}
	site := ""
	err = c.lookAhead(ctx, c.service.tools[c.tool.Name].needs, func() error {
		s, err := c.site(args.SiteID)
		site = s.id
		return err
	})
	if err != nil || site == "" {
		return err
	}
	c.points, err = c.service.host.RestorePoints(ctx, site, c.tool.Effect == toolapi.Reads)
	return refusedRelease(err, "site_id")
}

// restorePoints is page.restore_points, after loadPoints.
func (c *call) restorePoints(args toolapi.RestorePointsArgs) (result toolapi.RestorePoints, err error) {
	s, err := c.site(args.SiteID)
	if err == nil {
		err = c.findCopied(s)
	}
	if err != nil {
		return result, err
	}
	return toolapi.RestorePoints{
		SiteID: s.id, Points: c.points.Points, Tables: append([]toolapi.RestoreTable{}, c.points.Tables...),
		Rule: c.points.Rule, MaxPoints: c.points.MaxPoints, MaxBytes: c.points.MaxBytes,
	}, nil
}

// restoreData is page.restore_data, after loadPoints.
func (c *call) restoreData(args toolapi.RestoreDataArgs) (none plan[toolapi.RestoreData], err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	if !s.live.Valid {
		return none, refuseAt(toolapi.CodeRestorePointUnknown, "The site was never published, so it has no data.", "site_id", "")
	}
	if err := c.findCopied(s); err != nil {
		return none, err
	}
	point, err := c.findPoint(args)
	if err != nil {
		return none, err
	}
	revision, err := c.restoredRevision(s, point, args)
	if err != nil {
		return none, err
	}
	into, leads := args.Into, args.Leads
	if into == "" {
		into = toolapi.IntoLive
	}
	if leads == "" {
		leads = toolapi.KeepLeads
	}
	change := releaseChange{site: s.id, revision: revision, restore: restoreChange{
		id: strings.ToLower(string(args.ConfirmationID)), point: point.ID, tables: strings.Join(args.Tables, "\x00"),
		keepLeads: leads == toolapi.KeepLeads, harmless: into == toolapi.IntoPreview,
	}}
	p := plan[toolapi.RestoreData]{
		release: change, later: into == toolapi.IntoPreview,
		subject: "live revision of site " + s.id, // a publish decides it, too
		target:  s.state() + " to " + revision + " with " + point.ID,
		result: toolapi.RestoreData{
			SiteID: s.id, SiteName: s.name, Hostname: s.hostname, Point: point, Into: into, Leads: leads,
			Tables: append([]string{}, args.Tables...), Revision: revision, Previous: s.live.String,
			ServingNow: into == toolapi.IntoLive && c.body.Has("confirmation_id") && s.serving,
		},
	}
	p.summary = restoreSummary(s, p.result, c.in.zone)
	if into == toolapi.IntoPreview {
		p.subject = "a preview of data of site " + s.id
		p.apply = func() error { return nil }
		if change.restore.id != "" {
			p.result.Preview, err = c.planPreview(change)
			p.apply = func() error { return c.storeRestorePreview(s, change, *p.result.Preview) }
		}
		return p, err
	}
	if c.restored != nil && c.restored.Saved != "" {
		p.result.SavedAs = &c.restored.Saved
	}
	p.apply = func() error { return c.applyRestore(s, change) }
	return p, nil
}

// restoreSummary describes a restore in one sentence.
func restoreSummary(s siteRow, r toolapi.RestoreData, zone string) string {
	what := "the data"
	if len(r.Tables) > 0 {
		what = "the rows of " + shortNames(r.Tables)
	}
	from := fmt.Sprintf("restore point %s of %s", r.Point.ID, zonedTime(r.Point.At, zone))
	if r.Into == toolapi.IntoPreview {
		return fmt.Sprintf("Create a preview of site %s at %s that shows revision %s with %s of %s; the site itself does not change.",
			quoteName(s.name), s.hostname, r.Revision, what, from)
	}
	then := "."
	if r.Revision != r.Previous {
		then = fmt.Sprintf(", and revision %s replaces %s as the live one.", r.Revision, r.Previous)
	}
	return fmt.Sprintf("Restore %s of site %s at %s to %s%s", what, quoteName(s.name), s.hostname, from, then)
}

// shortNames lists the first names of tables.
func shortNames(tables []string) string {
	var names []string
	for i, t := range tables {
		if i == maxShownLosses {
			names = append(names, fmt.Sprintf("and %d more", len(tables)-i))
			break
		}
		names = append(names, shortName(t))
	}
	return strings.Join(names, ", ")
}

// zonedTime shows a time of a response in a zone.
func zonedTime(text, zone string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		place = time.UTC
	}
	return at.In(place).Format("Mon 2 Jan 2006, 15:04:05 MST")
}

// findPoint returns the restore point that the arguments name in one of three ways.
func (c *call) findPoint(args toolapi.RestoreDataArgs) (p toolapi.RestorePoint, err error) {
	given := 0
	for _, is := range []bool{args.Point != "", args.BeforeRevision != "", args.At != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return p, invalid(toolapi.Issue{Path: "point", Message: "or before_revision or at is required, and only one of them"})
	}
	const list = "page.restore_points lists the restore points"
	var fits func(toolapi.RestorePoint) bool
	path, message := "point", ""
	switch {
	case args.Point != "":
		fits = func(o toolapi.RestorePoint) bool { return o.ID == string(args.Point) }
		message = fmt.Sprintf("The site has no restore point %q.", args.Point)
	case args.BeforeRevision != "":
		name := string(args.BeforeRevision)
		path, message = "before_revision", fmt.Sprintf("The site has no restore point from before revision %q went live.", name)
		fits = func(o toolapi.RestorePoint) bool {
			return o.Reason == "publish" && o.Before != nil && (*o.Before == name || strings.HasPrefix(*o.Before, name+"-"))
		}
	default:
		at, ok := args.At.Moment()
		if !ok {
			return p, invalid(toolapi.Issue{
				Path: "at", Message: "must be an ISO 8601 timestamp with a UTC offset, such as 2026-11-23T10:00:00+01:00",
			})
		}
		path, message = "at", "The site has no restore point from that time or before."
		fits = func(o toolapi.RestorePoint) bool {
			made, err := time.Parse(time.RFC3339Nano, o.At)
			return err == nil && !made.After(at)
		}
	}
	i := slices.IndexFunc(c.points.Points, fits)
	if i < 0 {
		return p, refuseAt(toolapi.CodeRestorePointUnknown, message, path, list)
	}
	return c.points.Points[i], nil
}

// findCopied finds the revisions of points from an earlier version of the host, which did not store them.
func (c *call) findCopied(s siteRow) error {
	for i := range c.points.Points {
		if p := &c.points.Points[i]; p.Reason == "publish" && p.Before == nil {
			if err := c.findPublish(s, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// findPublish finds the publish after a point. The revision that was live then is the newest earlier one whose migrations are all in the
// point.
func (c *call) findPublish(s siteRow, p *toolapi.RestorePoint) error {
	made, err := time.Parse(time.RFC3339Nano, p.At)
	if err != nil {
		return err
	}
	type publish struct {
		id       int64
		revision string
	}
	earlier, err := list(c.tx, func(rows *sql.Rows, one *publish) error { return rows.Scan(&one.id, &one.revision) },
		"SELECT p.id, p.revision FROM publishes p JOIN revisions r ON r.site_id = p.site_id AND r.name = p.revision "+
			"JOIN bundles b ON b.id = r.bundle_id WHERE p.site_id = ? AND p.at < ? ORDER BY p.id DESC",
		s.id, made.Add(time.Second).UnixMilli()) // the host knows the second
	for _, live := range earlier {
		names, err := c.migrationsOf(s.id, live.revision)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(p.Migrations, name) }) {
			continue
		}
		p.Revision = &live.revision
		var next string
		found, err := c.queryOne("SELECT revision FROM publishes WHERE site_id = ? AND id > ? ORDER BY id LIMIT 1",
			[]any{s.id, live.id}, &next)
		if found {
			p.Before = &next
		}
		return err
	}
	return err
}

// restoredRevision returns the revision for the data: the point's, or the live one.
func (c *call) restoredRevision(s siteRow, p toolapi.RestorePoint, args toolapi.RestoreDataArgs) (string, error) {
	switch {
	case len(args.Tables) > 0 && args.Revision == toolapi.CodeOfPoint:
		return "", refuseAt(toolapi.CodeTablesUnfit, "Single tables can only be restored with the live code.", "revision",
			"omit revision, or restore everything, without tables")
	case len(args.Tables) > 0, args.Revision == toolapi.CodeOfLive:
		return s.live.String, nil
	case p.Revision == nil:
		return "", refuseAt(toolapi.CodeRevisionUnknown, "The live revision at the time of the restore point is unknown.", "revision",
			`send revision: "live", which keeps the live revision`)
	}
	name, err := c.revision(s, *p.Revision)
	if refused, ok := refusedWith(err); ok && refused.refusal.Code == toolapi.CodeRevisionUnknown {
		err = refuseAt(toolapi.CodeRevisionUnknown, "The revision "+*p.Revision+", which was live then, no longer exists.", "revision",
			`send revision: "live", which keeps the live revision and runs its migrations on the data`)
	}
	return name, err
}

// judgeRestore refuses a restore that would remove rows of tables outside the proposal. Tables in the proposal may lose newer
// rows as well: the preceding restore point has them.
func (a approval) judgeRestore(now toolapi.Migrated) error {
	if r := a.Migrated.Rehearsal; r == nil || r.State == toolapi.RehearsalSkipped {
		return nil
	}
	shown := toolapi.LosingTables(a.Migrated.DataLoss)
	lost := slices.DeleteFunc(slices.Clone(now.DataLoss), func(l toolapi.DataLoss) bool { return shown.Contains(l.Table) })
	if len(lost) == 0 {
		return nil
	}
	return &refusalError{refusal: toolapi.ToolRefusal{
		Code: toolapi.CodeDataLoss, Path: "confirmation_id", DataLoss: lost,
		Message: "The restore would remove data beyond the proposal: " + shownLosses(lost) + "; nothing was done.",
		Fix:     "propose again to see the current losses",
	}}
}

// applyRestore records the decision, so that the data are restored even if this process ends.
func (c *call) applyRestore(s siteRow, change releaseChange) error {
	if c.restored == nil {
		return refusePropose(toolapi.CodeConfirmationStale, "The data or the site have changed since the proposal; nothing was done.")
	}
	var err error
	if change.revision != s.live.String {
		err = c.setLive(s.id, change.revision, c.request, c.now.UnixMilli())
	} else {
		err = c.exec("UPDATE sites SET version = version + 1 WHERE id = ?", s.id)
	}
	if err != nil {
		return err
	}
	if err := c.exec("DELETE FROM site_migrations WHERE site_id = ?", s.id); err != nil {
		return err
	}
	for _, name := range c.restored.Migrations {
		if err := c.exec("INSERT INTO site_migrations (site_id, name) VALUES (?, ?)", s.id, name); err != nil {
			return err
		}
	}
	return c.exec("UPDATE sites SET restore_id = ? WHERE id = ?", change.restore.id, s.id)
}

// planPreview returns the preview link of a restore. Its token is derived from the proposal, so that no stored response contains it.
func (c *call) planPreview(change releaseChange) (*toolapi.RestorePreview, error) {
	token, label, err := c.service.restoreToken(change.restore.id)
	if err != nil {
		return nil, err
	}
	return &toolapi.RestorePreview{
		ID: "prv_" + rand.Text(), Hostname: label + previewDomain, Path: previewPath + token,
		ExpiresAt: formatTime(c.now.Add(toolapi.DefaultPreviewSeconds * time.Second).UnixMilli()),
	}, nil
}

// restoreToken returns the token of the preview that a proposal makes, and the label of its host.
func (s *Service) restoreToken(proposal string) (token, label string, err error) {
	master, err := s.masterKey()
	if err != nil {
		return "", "", err
	}
	mac := hmac.New(sha256.New, master)
	mac.Write([]byte("preview of a restore\x00" + proposal)) // never fails
	bits := mac.Sum(nil)
	const labelBits = 20
	sum := sha256.Sum256(append([]byte("label of "), bits...))
	return base64.RawURLEncoding.EncodeToString(bits), strings.ToLower(keyEncoding.EncodeToString(sum[:labelBits])), nil
}

// storeRestorePreview stores the preview link of a restore.
func (c *call) storeRestorePreview(s siteRow, change releaseChange, link toolapi.RestorePreview) error {
	var valid int
	if _, err := c.queryOne("SELECT count(*) FROM previews WHERE site_id = ? AND expires_at > ?",
		[]any{s.id, c.now.UnixMilli()}, &valid); err != nil {
		return err
	}
	if valid >= maxPreviews {
		return refuse(toolapi.CodeTooManyPreviews, fmt.Sprintf("The site has %d preview links: revoke one, or wait until one "+
			"expires.", valid))
	}
	restore, err := json.Marshal(change.restore.restoration())
	if err != nil {
		return err
	}
	expires := c.now.Add(toolapi.DefaultPreviewSeconds * time.Second).UnixMilli()
	return c.exec("INSERT INTO previews (id, label, hash, workspace_id, site_id, revision, holder_id, created_at, expires_at, restore) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		link.ID, strings.TrimSuffix(link.Hostname, previewDomain), hashToken(strings.TrimPrefix(link.Path, previewPath)), c.in.id, s.id,
		change.revision, c.who.holder, c.now.UnixMilli(), expires, string(restore))
}

// restorationOf reads the restore point of a preview; nil for a preview of the live data.
func restorationOf(text sql.NullString) (*Restoration, error) {
	if !text.Valid {
		return nil, nil //nolint:nilnil // it shows the live data
	}
	r := &Restoration{Harmless: true}
	err := json.Unmarshal([]byte(text.String), r)
	return r, err
}

// hidePath removes the token from a response before it is stored.
func hidePath(text []byte) []byte {
	var result toolapi.RestoreData
	if json.Unmarshal(text, &result) != nil || result.Preview == nil {
		return text
	}
	result.Preview.Path = ""
	if kept, err := json.Marshal(&result); err == nil {
		return kept
	}
	return text
}

// showPath puts the token back into a stored response.
func (s *Service) showPath(proposal string, text []byte) []byte {
	var result toolapi.RestoreData
	if json.Unmarshal(text, &result) != nil || result.Preview == nil {
		return text
	}
	token, _, err := s.restoreToken(proposal)
	result.Preview.Path = previewPath + token
	if shown, failed := json.Marshal(&result); err == nil && failed == nil {
		return shown
	}
	return text
}
