package service

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file bounds the uploads of a site that are not finalized: they are listed and ended, and the one that was idle
// for longest gives its place to the next.

// openUpload is an upload that is not finalized.
type openUpload struct {
	toolapi.OpenUpload
	touched int64
}

// openUploads are those of a site, the one that was idle for longest first.
func (p *pagesCall) openUploads(site string) ([]openUpload, error) {
	all, err := list(p.tx, func(rows *sql.Rows, u *openUpload) error {
		var created int64
		err := rows.Scan(&u.UploadID, &u.Files, &u.Bytes, &created, &u.touched, &u.By)
		u.CreatedAt = formatTime(created)
		return err
	},
		`SELECT u.id, b.file_count, b.bytes, u.created_at, u.touched_at, h.name
			FROM uploads u JOIN bundles b ON b.id = u.bundle_id JOIN holders h ON h.id = u.holder_id
		WHERE u.site_id = ? AND u.revision IS NULL AND u.touched_at > ?`, site, p.now.Add(-uploadIdle-touchStep).UnixMilli())
	for i := range all {
		u := &all[i]
		u.touched = max(u.touched, p.service.touches.last(u.UploadID))
		u.UsedAt, u.ExpiresAt, u.Sending = formatTime(u.touched), formatTime(
			u.touched+uploadIdle.Milliseconds(),
		), p.service.touches.isSending(u.UploadID, p.now)
	}
	all = slices.DeleteFunc(all, func(u openUpload) bool { return p.now.Sub(time.UnixMilli(u.touched)) >= uploadIdle })
	slices.SortFunc(all, func(a, b openUpload) int {
		return cmp.Or(cmp.Compare(a.touched, b.touched), cmp.Compare(a.CreatedAt, b.CreatedAt))
	})
	return all, err
}

// uploadRoom makes room for one more upload of a site.
func (p *pagesCall) uploadRoom(site string) error {
	open, err := p.openUploads(site)
	if err != nil || len(open) < toolapi.MaxOpenUploads {
		return err
	}
	idle := slices.IndexFunc(open, func(u openUpload) bool { return !u.Sending })
	if idle < 0 {
		return toolapi.NewPagesError(
			toolapi.CodeTooManyUploads,
			fmt.Sprintf("The site has %d uploads, and clients are sending to all of them: let one end, or end one.", len(open)),
		)
	}
	// What sends to it is told as of an upload that has expired.
	if err := p.exec("UPDATE uploads SET bundle_id = NULL WHERE id = ?", open[idle].UploadID); err != nil {
		return err
	}
	return p.audit(entry{
		outcome: "done",
		summary: fmt.Sprintf("The upload of %s by %s gave its place to a later one.", open[idle].CreatedAt, quoteName(open[idle].By)),
	})
}

// listUploads is GET /pages/uploads.
func (p *pagesCall) listUploads() error {
	result := &toolapi.UploadList{Uploads: []toolapi.OpenUpload{}, Most: toolapi.MaxOpenUploads}
	err := p.service.db.read(p.x.r.Context(), func(t tx) error {
		p.tx = t
		site, err := p.siteOfQuery(t)
		if err != nil {
			return err
		}
		open, err := p.openUploads(site.id)
		for _, u := range open {
			result.Uploads = append(result.Uploads, u.OpenUpload)
		}
		result.SiteID = site.id
		return err
	})
	if err != nil {
		return err
	}
	result.Fill(p.as)
	return p.giveResult(http.StatusOK, result)
}

// cancelUpload is DELETE /pages/uploads/{id}.
func (p *pagesCall) cancelUpload() error {
	err := p.service.db.write(p.x.r.Context(), func(t tx) error {
		u, err := p.findEndableUpload(t)
		if err != nil {
			return err
		}
		if u.revision.Valid {
			return uploadClosed()
		}
		if err := t.exec("DELETE FROM uploads WHERE id = ?", u.id); err != nil {
			return err
		}
		return p.audit(entry{outcome: "done", summary: "Cancelled an upload."})
	})
	if err != nil {
		return err
	}
	p.x.WriteHeader(http.StatusNoContent)
	return nil
}

// findEndableUpload finds the upload that a request is to end: one of the holder's own, or of a workspace whose pages the holder
// may publish.
func (p *pagesCall) findEndableUpload(t tx) (u uploadRow, err error) {
	p.tx = t
	if err := p.enter(t); err != nil {
		return u, err
	}
	var holder int64
	found, err := t.queryOne(uploadQuery+"u.id = ?", []any{p.id}, u.columns()...)
	if err == nil && found {
		_, err = t.queryOne("SELECT holder_id FROM uploads WHERE id = ?", []any{p.id}, &holder)
	}
	if err == nil && !found {
		err = noUpload()
	}
	if err != nil {
		return u, err
	}
	if holder != p.who.holder &&
		!slices.ContainsFunc(p.who.reachableWorkspaces(), func(w reachable) bool {
			return w.id == u.workspace && roleAllows(w.role, publishPages)
		}) {
		return u, noUpload()
	}
	return u, p.usable(&u)
}
