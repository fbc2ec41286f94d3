package service

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// loaded is a revision with its bundle.
type loaded struct {
	bundle  *bundle.Bundle
	created int64
}

// load reads a revision of a site; false without one, or without its contents.
func (t tx) load(site, revision string) (l loaded, ok bool, err error) {
	var id int64
	ok, err = t.queryOne("SELECT b.id, r.created_at FROM revisions r JOIN bundles b ON b.id = r.bundle_id WHERE "+
		"r.site_id = ? AND r.name = ?", []any{site, revision}, &id, &l.created)
	if err != nil || !ok {
		return l, ok, err
	}
	// It was valid when uploaded, perhaps by the rules of an older version.
	if l.bundle, err = t.bundle(id); err != nil {
		return l, false, fmt.Errorf("read revision %s: %w", revision, err)
	}
	return l, true, nil
}

// query returns the query parameters of a request. Each may be given once, and no others.
func (p *pagesCall) query(names ...string) (map[string]string, error) {
	values, err := url.ParseQuery(p.x.r.URL.RawQuery)
	if err != nil {
		return nil, badArguments([]toolapi.Issue{{Path: "the query", Message: "is malformed"}})
	}
	found := map[string]string{}
	for _, name := range names {
		if given := values[name]; len(given) == 1 {
			found[name] = given[0]
			delete(values, name)
		}
	}
	for name := range values {
		return nil, badArguments([]toolapi.Issue{{Path: name, Message: "is unknown, or given twice"}})
	}
	return found, nil
}

// siteOfQuery finds the site that the query of a request names.
func (p *pagesCall) siteOfQuery(t tx) (siteRow, error) {
	q, err := p.query("site_id", "workspace")
	if err != nil {
		return siteRow{}, err
	}
	if q["site_id"] == "" {
		return siteRow{}, badArguments([]toolapi.Issue{{Path: "site_id", Message: "is required in the query"}})
	}
	if issues := toolapi.CheckUUID(q["site_id"], "site_id"); len(issues) > 0 {
		return siteRow{}, badArguments(issues)
	}
	if slug, given := q["workspace"]; given && slug == "" {
		return siteRow{}, badArguments([]toolapi.Issue{{Path: "workspace", Message: "must not be empty"}})
	}
	if err := p.enterWorkspace(t, q["workspace"]); err != nil {
		return siteRow{}, err
	}
	return p.pagesSite(toolapi.UUID(q["site_id"]))
}

// readRevision is GET /pages/revisions/{revision}.
func (p *pagesCall) readRevision() error {
	result := &toolapi.Revision{}
	err := p.service.db.read(p.x.r.Context(), func(t tx) error {
		s, err := p.siteOfQuery(t)
		if err != nil {
			return err
		}
		l, ok, err := t.load(s.id, p.id)
		if err != nil {
			return err
		}
		if !ok {
			return toolapi.NewPagesError(toolapi.CodeRevisionNotFound, "The site has no such revision.")
		}
		*result = toolapi.Revision{
			SiteID: s.id, Revision: p.id, BundleDigest: "sha256:" + l.bundle.Digest, Live: s.live.String == p.id,
			CreatedAt: formatTime(l.created), Manifest: l.bundle.Text, Bytes: l.bundle.Bytes(),
			Files: make([]toolapi.UploadFile, len(l.bundle.Files)),
		}
		for i, f := range l.bundle.Files {
			result.Files[i] = uploadFile(f)
		}
		result.Fill(p.as)
		return nil
	})
	if err != nil {
		return err
	}
	return p.sendResult(http.StatusOK, result)
}

// revisions is page.revisions.
func (c *call) revisions(args toolapi.SiteArgs) (toolapi.RevisionList, error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return toolapi.RevisionList{}, err
	}
	of, err := c.revisionsOf([]string{s.id}, math.MaxInt32, c.now)
	return toolapi.RevisionList{SiteID: s.id, Revisions: of[s.id].newest}, err
}

// revisionsOfSite returns the newest revisions of a site, and the total number.
type revisionsOfSite struct {
	newest []toolapi.RevisionSummary
	total  int
}

// revisionsOf returns the newest revisions of sites, at most `most` of each.
func (t tx) revisionsOf(sites []string, most int, now time.Time) (map[string]revisionsOfSite, error) {
	ids, err := json.Marshal(sites)
	if err != nil {
		return nil, err
	}
	of := map[string]revisionsOfSite{}
	for _, id := range sites {
		of[id] = revisionsOfSite{newest: []toolapi.RevisionSummary{}}
	}
	_, err = list(t, func(rows *sql.Rows, r *toolapi.RevisionSummary) error {
		var site string
		var total int
		var created int64
		var published sql.NullInt64
		err := rows.Scan(&site, &total, &r.Revision, &created, &r.Files, &r.Bytes, &r.Live, &r.Scheduled, &r.Previewed, &published)
		r.CreatedAt, r.PublishedAt = formatTime(created), formatOptionalTime(published)
		of[site] = revisionsOfSite{append(of[site].newest, *r), total}
		return err
	}, `SELECT r.site_id, r.total, r.name, r.created_at, coalesce(b.file_count, 0), coalesce(b.bytes, 0),
		s.live_revision IS r.name, n.revision IS r.name,
		EXISTS (SELECT 1 FROM previews p WHERE p.site_id = r.site_id AND p.revision = r.name AND p.expires_at > ?),
		(SELECT max(at) FROM publishes p WHERE p.site_id = r.site_id AND p.revision = r.name)
		FROM (SELECT *, row_number() OVER (PARTITION BY site_id ORDER BY number DESC) AS place,
			count(*) OVER (PARTITION BY site_id) AS total
			FROM revisions WHERE site_id IN (SELECT value FROM json_each(?))) r
		JOIN sites s ON s.id = r.site_id LEFT JOIN schedules n ON n.site_id = r.site_id LEFT JOIN bundles b ON b.id = r.bundle_id
		WHERE r.place <= ? ORDER BY r.number DESC`, now.UnixMilli(), string(ids), most)
	return of, err
}

// ensureRevision finds or makes the revision of a bundle.
func (t tx) ensureRevision(site string, bundle int64, now time.Time, result *toolapi.Finalized) error {
	var digest string
	if _, err := t.queryOne("SELECT digest, file_count, bytes FROM bundles WHERE id = ?",
		[]any{bundle}, &digest, &result.Files, &result.Bytes); err != nil {
		return err
	}
	var created int64
	result.State = "ready"
	found, err := t.queryOne("SELECT name, created_at FROM revisions WHERE site_id = ? AND bundle_id = ?",
		[]any{site, bundle}, &result.Revision, &created)
	if err != nil {
		return err
	}
	if result.AlreadyExisted = found; found {
		result.CreatedAt = formatTime(created)
		return nil
	}
	var number int
	if _, err := t.queryOne("SELECT coalesce(max(number), 0) + 1 FROM revisions WHERE site_id = ?", []any{site}, &number); err != nil {
		return err
	}
	const shownDigest = 12
	result.Revision, result.CreatedAt = fmt.Sprintf("r%d-%s", number, digest[:shownDigest]), formatTime(now.UnixMilli())
	return t.exec("INSERT INTO revisions (site_id, number, name, created_at, bundle_id) VALUES (?, ?, ?, ?, ?)",
		site, number, result.Revision, now.UnixMilli(), bundle)
}

// finalize is POST /pages/uploads/{id}/finalize.
func (p *pagesCall) finalize() error {
	if p.x.r.ContentLength != 0 {
		body, err := p.object()
		if err != nil {
			return err
		}
		if issues := body.CheckEmpty(); len(issues) > 0 {
			return badArguments(issues)
		}
	}
	var u uploadRow
	var all []blob.Blob
	var text []byte
	var files []sitefile.File
	err := p.service.db.read(p.x.r.Context(), func(t tx) (err error) {
		if u, err = p.findUpload(t); err != nil || u.revision.Valid {
			return err
		}
		var missing []blob.Blob
		if missing, all, err = t.missingFromWorkspace(p.service, u.workspace, u.bundle.Int64); err != nil {
			return err
		}
		if len(missing) > 0 {
			return toolapi.NewPagesError(toolapi.CodeBlobsMissing,
				fmt.Sprintf("%d blobs are missing: ask for the upload's status, and send them.", len(missing)))
		}
		if text, files, err = t.checkedFiles(u.bundle.Int64); err != nil {
			return err
		}
		store, err := p.service.store()
		if err != nil {
			return err
		}
		return checkFlags(text, store.Space(u.workspace), files)
	})
	if err != nil {
		return err
	}
	defer p.service.uploadUses.send(u.id, p.service.now)()
	store, err := p.service.store()
	if err != nil {
		return err
	}
	space := store.Space(u.workspace)
	if err := checkMigrations(text, space, files); err != nil {
		return err
	}
	if err := p.service.checkLeaks(p.x.r.Context(), u.site, space, text, files); err != nil {
		return err
	}
	sums := make([]string, len(all))
	for i, b := range all {
		sums[i] = b.SHA256
	}
	if err := space.Sync(sums); err != nil {
		return err
	}
	reply, err := writeTx(p.x.r.Context(), p.service.db, p.finalizeUpload)
	if err != nil {
		return err
	}
	p.sendReply(reply)
	return nil
}

// finalizeUpload makes a revision of a complete upload.
func (p *pagesCall) finalizeUpload(t tx) (reply storedReply, err error) {
	u, err := p.findUpload(t)
	if err != nil {
		return reply, err
	}
	fingerprint := []byte(u.id)
	if reply, found, err := p.storedResponse(t, fingerprint); found || err != nil {
		return reply, err
	}
	if !u.revision.Valid && u.baseGiven {
		var live sql.NullString
		if _, err := t.queryOne("SELECT live_revision FROM sites WHERE id = ?", []any{u.site}, &live); err != nil {
			return reply, err
		}
		if live != u.base {
			return reply, toolapi.NewPagesError(toolapi.CodeRevisionConflict,
				"Another revision went live in the meantime: check the live revision, and upload again.")
		}
	}
	result := &toolapi.Finalized{}
	if err := t.ensureRevision(u.site, u.bundle.Int64, p.now, result); err != nil {
		return reply, err
	}
	result.Fill(p.as)
	err = t.exec("UPDATE uploads SET revision = ?, touched_at = ? WHERE id = ?", result.Revision, p.now.UnixMilli(), u.id)
	if err != nil {
		return reply, err
	}
	return p.storeResponse(fingerprint, http.StatusOK, result, entry{outcome: "done", summary: "Made revision " + result.Revision + "."})
}
