package service

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// This file has named previews: a link to the newest revision of the name, with persistent data, and a link to each of its
// last revisions.

// namedPreview is a stored named preview.
type namedPreview struct {
	id, name, revision, dataID, seed string
	data                             toolapi.PreviewData
	migrations                       []appliedMigration
	created, updated, expires        int64
}

// appliedMigration is a migration that was applied to the data of a preview.
type appliedMigration struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

const namedQuery = `SELECT n.id, n.name, n.revision, n.data, n.data_id, n.seed, n.migrations, n.created_at, n.updated_at, p.expires_at
	FROM named_previews n JOIN previews p ON p.id = n.id WHERE `

func (n *namedPreview) columns(migrations *string) []any {
	return []any{&n.id, &n.name, &n.revision, &n.data, &n.dataID, &n.seed, migrations, &n.created, &n.updated, &n.expires}
}

// findNamed finds a valid preview of a site by its name.
func (t tx) findNamed(site, name string, now time.Time) (n namedPreview, found bool, err error) {
	var migrations string
	found, err = t.queryOne(namedQuery+"n.site_id = ? AND n.name = ? AND p.expires_at > ?",
		[]any{site, name, now.UnixMilli()}, n.columns(&migrations)...)
	if found && err == nil {
		err = json.Unmarshal([]byte(migrations), &n.migrations)
	}
	return n, found, err
}

// deployPreview is POST /pages/previews.
func (p *pagesCall) deployPreview() error {
	args, err := p.namedPreviewArgs()
	if err != nil {
		return err
	}
	ctx := p.x.r.Context()
	var s siteRow
	if err := p.service.db.read(ctx, func(t tx) error {
		if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
			return err
		}
		s, err = p.pagesSite(args.SiteID)
		return err
	}); err != nil {
		return err
	}
	unlock, err := p.service.locks.lock(ctx, "previews of "+s.id) // one at a time, so that data are initialized once
	if err != nil {
		return err
	}
	defer unlock()
	d := &previewDeploy{call: p, args: args, site: s.id}
	if err := p.service.db.read(ctx, d.plan); err != nil {
		return err
	}
	result, status, err := d.run(ctx)
	if err != nil {
		return err
	}
	return p.sendResult(status, result)
}

func (p *pagesCall) namedPreviewArgs() (args toolapi.NamedPreviewArgs, err error) {
	text, err := p.body(toolapi.MaxPreviewDeclare)
	if err != nil {
		return args, err
	}
	body, err := toolapi.ParseObject(text)
	if err != nil {
		return args, err
	}
	issues := body.CheckNamedPreview()
	if len(issues) == 0 {
		if err := body.Decode(&args); err != nil {
			return args, err
		}
		args.Data = cmp.Or(args.Data, toolapi.DataCopy)
		args.TTL = cmp.Or(args.TTL, toolapi.DefaultPreviewTTL)
		switch name := string(args.Name); {
		case strings.TrimSpace(name) != name, oneLine(name) != name:
			issues = append(issues, toolapi.Issue{Path: "name", Message: "must be one line of visible characters"})
		case args.Data == toolapi.DataSeed && args.Seed == "":
			issues = append(issues, toolapi.Issue{Path: "seed", Message: "is required with data seed"})
		case args.Data != toolapi.DataSeed && args.Seed != "":
			issues = append(issues, toolapi.Issue{Path: "seed", Message: "belongs to data seed"})
		case len(args.Seed) > toolapi.MaxSeedBytes:
			issues = append(issues, toolapi.Issue{Path: "seed", Message: fmt.Sprintf("must have at most %d bytes", toolapi.MaxSeedBytes)})
		}
	}
	if len(issues) > 0 {
		refused := badArguments(issues)
		refused.Status = http.StatusUnprocessableEntity
		return args, refused
	}
	return args, nil
}

// previewDeploy is the deploy of a revision to a named preview.
type previewDeploy struct {
	call *pagesCall
	args toolapi.NamedPreviewArgs
	site string

	release    Release
	old        namedPreview // zero for none
	next       namedPreview
	because    string // the reason for new data; "" when they stay
	revisionID string // of the link to the revision
}

// plan finds the revision and an existing preview, and decides whether to keep its data.
func (d *previewDeploy) plan(t tx) error {
	c, now := d.call, d.call.now
	unknown := toolapi.NewPagesError(toolapi.CodeRevisionNotFound, "The site has no such revision to preview.")
	var revision string
	err := t.queryOr(unknown,
		"SELECT name FROM revisions WHERE site_id = ? AND (? = '' OR name = ?) AND bundle_id IS NOT NULL ORDER BY number DESC LIMIT 1",
		[]any{d.site, d.args.Revision, d.args.Revision}, &revision)
	if err != nil {
		return err
	}
	var there bool
	if d.old, there, err = t.findNamed(d.site, string(d.args.Name), now); err != nil {
		return err
	}
	if !there {
		var others int
		if _, err := t.queryOne("SELECT count(*) FROM named_previews n JOIN previews p ON p.id = n.id "+
			"WHERE n.site_id = ? AND p.expires_at > ?", []any{d.site, now.UnixMilli()}, &others); err != nil {
			return err
		}
		if others >= toolapi.MaxNamedPreviews {
			return toolapi.NewPagesError(toolapi.CodeTooManyPreviews,
				fmt.Sprintf("The site has %d named previews: remove one, or wait until one expires.", others))
		}
	}
	if d.release, err = c.service.releaseOf(t, d.site, revision); err != nil {
		return err
	}
	migrations := migrationsIn(d.release.Bundle)
	d.because = d.anew(migrations, there)
	d.next = namedPreview{
		id: cmp.Or(d.old.id, "prv_"+rand.Text()), name: string(d.args.Name), revision: revision, data: d.args.Data,
		dataID: d.old.dataID, seed: d.old.seed, migrations: migrations, created: cmp.Or(d.old.created, now.UnixMilli()),
		updated: now.UnixMilli(), expires: now.Add(time.Duration(d.args.TTL) * time.Second).UnixMilli(),
	}
	if d.because != "" {
		d.next.dataID, d.next.seed = "prv_"+rand.Text(), string(d.args.Seed)
	}
	d.release.asPreviewOf(d.next)
	_, label, err := c.service.namedToken(d.next.id, d.next.name)
	d.release.Answers = func(host string) bool { return bareName(host) == label+previewDomain }
	return err
}

// anew returns the reason for new data, as a clause; "" when they stay.
func (d *previewDeploy) anew(now []appliedMigration, there bool) string {
	switch {
	case !there:
		return "the preview is new"
	case d.args.Fresh:
		return "the call asked for that"
	case d.args.Data != d.old.data:
		return fmt.Sprintf("they started as %s, and the call asks for %s", d.old.data, d.args.Data)
	}
	for i, was := range d.old.migrations {
		at := slices.IndexFunc(now, func(m appliedMigration) bool { return m.Name == was.Name })
		switch {
		case at < 0:
			return was.Name + ", which was applied, is not in this revision"
		case now[at].SHA256 != was.SHA256:
			return was.Name + " was edited after it was applied"
		case at != i:
			return now[i].Name + " comes before " + was.Name + ", which was applied"
		}
	}
	return ""
}

// migrationsIn are the migrations of a bundle, in the order they run.
func migrationsIn(b *bundle.Bundle) []appliedMigration {
	all := []appliedMigration{}
	for _, f := range b.Migrations() {
		all = append(all, appliedMigration{path.Base(f.Path), f.SHA256})
	}
	return all
}

// run prepares the preview, stores it, and shows it.
func (d *previewDeploy) run(ctx context.Context) (result *toolapi.DeployedPreview, status int, err error) {
	host := d.call.service.host
	begun := d.next.dataID != d.old.dataID
	if host == nil {
		result, _, err = d.store(ctx)
		return result, d.status(), err
	}
	prepared, err := host.PreparePreview(ctx, d.next.dataID, d.release)
	if err != nil {
		if begun {
			host.EndPreview(d.next.dataID)
		}
		if broken, ok := errors.AsType[*ReleaseError](err); ok {
			return nil, 0, toolapi.NewPagesError(broken.Code, broken.Message)
		}
		return nil, 0, err
	}
	result, ended, err := d.store(ctx)
	if err != nil {
		prepared.Discard()
		if begun {
			host.EndPreview(d.next.dataID)
		}
		return nil, 0, err
	}
	prepared.Show()
	if begun && d.old.dataID != "" {
		ended = append(ended, d.old.dataID)
	}
	for _, id := range ended {
		host.EndPreview(id)
	}
	return result, d.status(), nil
}

func (d *previewDeploy) status() int {
	if d.old.id == "" {
		return http.StatusCreated
	}
	return http.StatusOK
}

// store writes the preview and the link to its revision. It returns the links to older revisions that end.
func (d *previewDeploy) store(ctx context.Context) (result *toolapi.DeployedPreview, ended []string, err error) {
	c, n := d.call, d.next
	err = c.service.db.write(ctx, func(t tx) error {
		if err := c.enterWorkspace(t, string(d.args.Workspace)); err != nil {
			return err
		}
		if _, err := c.pagesSite(toolapi.UUID(d.site)); err != nil {
			return err
		}
		migrations, err := json.Marshal(n.migrations)
		if err != nil {
			return err
		}
		if ended, err = t.giveName(d.site, n); err != nil {
			return err
		}
		if err := t.exec("INSERT OR REPLACE INTO named_previews (id, site_id, name, revision, data, data_id, seed, migrations, "+
			"created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			n.id, d.site, n.name, n.revision, string(n.data), n.dataID, n.seed,
			string(migrations), n.created, n.updated); err != nil {
			return err
		}
		if err := d.storeLink(t, n.id); err != nil {
			return err
		}
		if d.revisionID, err = t.linkOfRevision(n.id, n.revision); err != nil {
			return err
		}
		d.revisionID = cmp.Or(d.revisionID, "prv_"+rand.Text())
		if err := d.storeLink(t, d.revisionID); err != nil {
			return err
		}
		old, err := t.endOldRevisions(n.id)
		if err != nil {
			return err
		}
		ended = append(ended, old...)
		shown, err := c.showNamed(t, n)
		if err != nil {
			return err
		}
		result = &toolapi.DeployedPreview{
			NamedPreview: shown, Because: d.because, SeedChanged: d.because == "" && string(d.args.Seed) != n.seed,
		}
		result.Fill(c.as)
		summary := oneLine("Showed revision " + n.revision + " in the preview " + quoteName(n.name) + ".")
		return c.audit(entry{outcome: "done", summary: summary})
	})
	return result, ended, err
}

// giveName removes an expired preview of the same name, like removePreview.
func (t tx) giveName(site string, n namedPreview) (ended []string, err error) {
	expired, err := listColumn[string](t, "SELECT id FROM named_previews WHERE site_id = ? AND name = ? AND id <> ?", site, n.name, n.id)
	for _, id := range expired {
		gone, err := t.removePreview(id)
		if err != nil {
			return nil, err
		}
		ended = append(ended, gone...)
	}
	return ended, err
}

// endOldRevisions ends the links to all but the last revisions of a preview, and returns them.
func (t tx) endOldRevisions(named string) (ended []string, err error) {
	ended, err = listColumn[string](t, "SELECT id FROM previews WHERE named_id = ?1 AND id <> ?1 ORDER BY created_at DESC, id "+
		"LIMIT -1 OFFSET ?2", named, toolapi.MaxPreviewedRevisions)
	for _, id := range ended {
		err = errors.Join(err, t.exec("DELETE FROM previews WHERE id = ?", id))
	}
	return ended, err
}

// storeLink stores a link of the preview: with the preview's own id to its newest revision, with another id to this revision.
func (d *previewDeploy) storeLink(t tx, id string) error {
	c, n := d.call, d.next
	token, label, err := c.service.namedToken(id, n.name)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO previews (id, label, hash, workspace_id, site_id, revision, holder_id, created_at, expires_at, named_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, expires_at = excluded.expires_at`,
		id, label, hashToken(token), c.in.id, d.site, n.revision, c.who.holder, c.now.UnixMilli(), n.expires, n.id)
}

// linkOfRevision finds the link to a revision of a preview with a name; "" for none.
func (t tx) linkOfRevision(named, revision string) (id string, err error) {
	_, err = t.queryOne("SELECT id FROM previews WHERE named_id = ?1 AND id <> ?1 AND revision = ?2", []any{named, revision}, &id)
	return id, err
}

// namedToken makes the token of a named preview's link, and the label of its host. They are derived from the id, so that the
// address can be shown again; without the service's key they cannot be guessed.
func (s *Service) namedToken(id, name string) (token, label string, err error) {
	master, err := s.masterKey()
	if err != nil {
		return "", "", err
	}
	mac := hmac.New(sha256.New, master)
	mac.Write([]byte("named preview\x00" + id))
	token, label = tokenOf([sha256.Size]byte(mac.Sum(nil)))
	if readable := nameLabel(name); readable != "" {
		label = readable + "-" + label
	}
	return token, label, nil
}

// nameLabel returns the part of a name that can begin the label of a host.
func nameLabel(name string) string {
	const longest = 24
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() >= longest:
		case r < unicode.MaxASCII && (unicode.IsLower(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// showNamed shows a preview with its addresses.
func (p *pagesCall) showNamed(t tx, n namedPreview) (shown toolapi.NamedPreview, err error) {
	shown = toolapi.NamedPreview{
		ID: n.id, Name: n.name, Revision: n.revision, Data: n.data, CreatedAt: formatTime(n.created), UpdatedAt: formatTime(n.updated),
		ExpiresAt: formatTime(n.expires),
	}
	if shown.URL, err = p.namedURL(n.id, n.name); err != nil {
		return shown, err
	}
	fixed, err := t.linkOfRevision(n.id, n.revision)
	if err == nil && fixed != "" {
		shown.RevisionURL, err = p.namedURL(fixed, n.name)
	}
	return shown, err
}

func (p *pagesCall) namedURL(id, name string) (string, error) {
	token, label, err := p.service.namedToken(id, name)
	return p.x.origin(label+previewDomain) + previewPath + token, err
}

// listPreviews is GET /pages/previews.
func (p *pagesCall) listPreviews() error {
	result := &toolapi.PreviewList{Previews: []toolapi.NamedPreview{}, Links: []toolapi.OpenLink{}, Most: toolapi.MaxNamedPreviews}
	err := p.service.db.read(p.x.r.Context(), func(t tx) error {
		s, err := p.siteOfQuery(t)
		if err != nil {
			return err
		}
		result.SiteID = s.id
		var migrations string
		all, err := list(t, func(rows *sql.Rows, n *namedPreview) error { return rows.Scan(n.columns(&migrations)...) },
			namedQuery+"n.site_id = ? AND p.expires_at > ? ORDER BY n.updated_at DESC, n.id", s.id, p.now.UnixMilli())
		if err != nil {
			return err
		}
		for _, n := range all {
			shown, err := p.showNamed(t, n)
			if err != nil {
				return err
			}
			result.Previews = append(result.Previews, shown)
		}
		result.Links, err = list(t, func(rows *sql.Rows, l *toolapi.OpenLink) error {
			var created, expires int64
			err := rows.Scan(&l.ID, &l.Revision, &created, &expires)
			l.CreatedAt, l.ExpiresAt = formatTime(created), formatTime(expires)
			return err
		}, "SELECT id, revision, created_at, expires_at FROM previews WHERE site_id = ? AND expires_at > ? AND named_id IS NULL "+
			"ORDER BY created_at DESC, id", s.id, p.now.UnixMilli())
		result.Fill(p.as)
		return err
	})
	if err != nil {
		return err
	}
	return p.sendResult(http.StatusOK, result)
}

// removePreview removes a preview link. With a named preview it removes the links to its revisions. It returns the host's ids of the
// ended previews.
func (t tx) removePreview(id string) (ended []string, err error) {
	var dataID string
	named, err := t.queryOne("SELECT data_id FROM named_previews WHERE id = ?", []any{id}, &dataID)
	if err != nil {
		return nil, err
	}
	if !named {
		return []string{id}, t.exec("DELETE FROM previews WHERE id = ?", id)
	}
	ended, err = listColumn[string](t, "SELECT id FROM previews WHERE named_id = ?1 AND id <> ?1", id)
	return append(ended, dataID), errors.Join(err,
		t.exec("DELETE FROM named_previews WHERE id = ?", id), t.exec("DELETE FROM previews WHERE named_id = ?", id))
}

// endExpiredPreviews removes the preview links that have expired, as removePreview does.
func (t tx) endExpiredPreviews(now time.Time) (ended []string, err error) {
	expired, err := listColumn[string](t, "SELECT id FROM previews WHERE expires_at <= ? ORDER BY created_at, id", now.UnixMilli())
	for _, id := range expired {
		if slices.Contains(ended, id) { // together with its named preview
			continue
		}
		gone, err := t.removePreview(id)
		if err != nil {
			return nil, err
		}
		ended = append(ended, gone...)
	}
	return ended, err
}

// asPreviewOf turns a release into one of a named preview.
func (r *Release) asPreviewOf(n namedPreview) {
	r.Preview, r.PreviewName = true, n.name
	r.Data = PreviewData{Empty: n.data != toolapi.DataCopy, Seed: n.seed, Kept: true}
}
