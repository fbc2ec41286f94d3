package service

import (
	"database/sql"
	"fmt"
	"net/http"

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
	var files []checkedFile
	err := p.service.db.read(p.x.r.Context(), func(t tx) (err error) {
		if u, err = p.findUpload(t); err != nil || u.revision.Valid {
			return err
		}
		var missing []blobRow
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
	if err := p.service.checkLeaks(p.x.r.Context(), u.site, space, text, files); err != nil {
		return err
	}
	sums := make([]string, len(all))
	for i, b := range all {
		sums[i] = b.sum
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
				"Another revision went live since: look at what is live, and upload again.")
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
