package service

import (
	"database/sql"
	"fmt"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

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
	var all []blobRow
	var text []byte
	var files []siteFile
	err := p.service.db.read(p.x.r.Context(), func(t tx) (err error) {
		if u, err = p.findUpload(t); err != nil || u.revision.Valid {
			return err
		}
		var lacks []blobRow
		if lacks, all, err = t.missingFromWorkspace(p.service, u.workspace, u.bundle.Int64); err != nil {
			return err
		}
		if len(lacks) > 0 {
			return toolapi.NewPagesError(
				toolapi.CodeBlobsMissing,
				fmt.Sprintf("%d blobs are missing: ask for the upload's status, and send them.", len(lacks)),
			)
		}
		if err := t.checkFlags(p.service, u.workspace, u.bundle.Int64); err != nil {
			return err
		}
		text, files, err = t.filesOf(u.bundle.Int64)
		return err
	})
	if err != nil {
		return err
	}
	defer p.service.touches.send(u.id, p.service.now)()
	store, err := p.service.store()
	if err != nil {
		return err
	}
	if err := p.service.checkLeaks(p.x.r.Context(), u.site, store.Space(u.workspace), text, files); err != nil {
		return err
	}
	if err := p.sync(u.workspace, all); err != nil {
		return err
	}
	var k storedReply
	err = p.service.db.write(p.x.r.Context(), func(t tx) (err error) {
		k, err = p.close(t)
		return err
	})
	if err != nil {
		return err
	}
	p.sendStored(k)
	return nil
}

// sync makes the names of blobs durable.
func (p *pagesCall) sync(workspace int64, all []blobRow) error {
	store, err := p.service.store()
	if err != nil {
		return err
	}
	sums := make([]string, len(all))
	for i, b := range all {
		sums[i] = b.sum
	}
	return store.Space(workspace).Sync(sums)
}

// close makes a revision of a complete upload.
func (p *pagesCall) close(t tx) (storedReply, error) {
	u, err := p.findUpload(t)
	if err != nil {
		return storedReply{}, err
	}
	asked := []byte(u.id)
	if k, found, err := p.storedResponse(t, asked); found || err != nil {
		return k, err
	}
	if !u.revision.Valid && u.baseGiven {
		var live sql.NullString
		if _, err := t.queryOne("SELECT live_revision FROM sites WHERE id = ?", []any{u.site}, &live); err != nil {
			return storedReply{}, err
		}
		if live != u.base {
			return storedReply{}, toolapi.NewPagesError(
				toolapi.CodeRevisionConflict,
				"Another revision went live since: look at what is live, and upload again.",
			)
		}
	}
	result := &toolapi.Finalized{}
	if err := t.ensureRevision(u.site, u.bundle.Int64, p.now, result); err != nil {
		return storedReply{}, err
	}
	result.Fill(p.as)
	if err := t.exec("UPDATE uploads SET revision = ?, touched_at = ? WHERE id = ?", result.Revision, p.now.UnixMilli(), u.id); err != nil {
		return storedReply{}, err
	}
	return p.storeResponse(asked, http.StatusOK, result, entry{outcome: "done", summary: "Made revision " + result.Revision + "."})
}

// ensureRevision finds or makes the revision of a bundle.
func (t tx) ensureRevision(site string, bundle int64, now time.Time, result *toolapi.Finalized) error {
	var digest string
	if _, err := t.queryOne(
		"SELECT digest, file_count, bytes FROM bundles WHERE id = ?", []any{bundle}, &digest, &result.Files,
		&result.Bytes,
	); err != nil {
		return err
	}
	var created int64
	result.State = "ready"
	found, err := t.queryOne(
		"SELECT name, created_at FROM revisions WHERE site_id = ? AND bundle_id = ?", []any{site, bundle},
		&result.Revision, &created,
	)
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
	return t.exec(
		"INSERT INTO revisions (site_id, number, name, created_at, bundle_id) VALUES (?, ?, ?, ?, ?)", site, number,
		result.Revision, now.UnixMilli(), bundle,
	)
}
