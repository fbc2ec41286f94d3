package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// uploadRow is an upload with its bundle.
type uploadRow struct {
	id, site  string
	workspace int64
	bundle    sql.NullInt64 // NULL when the upload has expired
	digest    sql.NullString
	count     sql.NullInt64
	bytes     sql.NullInt64
	baseGiven bool
	base      sql.NullString
	revision  sql.NullString
	touched   int64
}

const uploadQuery = `SELECT u.id, u.site_id, u.workspace_id, u.bundle_id, b.digest, b.file_count, b.bytes, 
	u.base_given, u.base_revision, u.revision, u.touched_at
	FROM uploads u LEFT JOIN bundles b ON b.id = u.bundle_id WHERE `

func (u *uploadRow) columns() []any {
	return []any{&u.id, &u.site, &u.workspace, &u.bundle, &u.digest, &u.count, &u.bytes, &u.baseGiven, &u.base, &u.revision, &u.touched}
}

// declare is POST /pages/uploads.
func (p *pagesCall) declare() error {
	body, err := p.body(toolapi.MaxDeclareBytes)
	if err != nil {
		return err
	}
	args, issues, err := toolapi.ParseDeclare(body)
	if err != nil {
		return err
	}
	if len(issues) > 0 {
		return badArguments(issues)
	}
	// The site comes first: the verdict on a bundle must not reveal sites of other workspaces.
	err = p.service.db.read(p.x.r.Context(), func(t tx) error {
		if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
			return err
		}
		_, err := p.pagesSite(args.SiteID)
		return err
	})
	if err != nil {
		return err
	}
	files := make([]sitefile.File, len(args.Files))
	for i, f := range args.Files {
		files[i] = siteFile(f)
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	var reply storedReply
	err = store.Use(func() error {
		// Slow work comes before the write transaction, which is exclusive.
		made, err := prepareBundle(args.Manifest, files, store.Space(p.in.id))
		if err != nil {
			return err
		}
		made.workspace = p.in.id
		fingerprint, err := fingerprintOf(args, made.Digest)
		if err != nil {
			return err
		}
		reply, err = writeTx(p.x.r.Context(), p.service.db, func(t tx) (storedReply, error) {
			return p.storeUpload(t, args, made, fingerprint)
		})
		if err == nil && made.upload != "" {
			p.service.uploadUses.wrote(made.upload, p.now)
		}
		if err == nil && made.id != 0 {
			p.service.db.bundles.put(made.id, made.Bundle)
			p.service.lists.put(made.id, made.blobs)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.sendReply(reply)
	return nil
}

// fingerprintOf is the same in every workspace. The digest of the bundle represents the manifest and the files.
func fingerprintOf(args toolapi.DeclareArgs, digest string) ([]byte, error) {
	args.Manifest, args.Files, args.Scope = json.RawMessage(`"`+digest+`"`), nil, toolapi.Scope{}
	text, err := json.Marshal(args)
	fingerprint := sha256.Sum256(text)
	return fingerprint[:], err
}

// preparedBundle is a packed bundle, and its blobs that a workspace lacks.
type preparedBundle struct {
	packed

	workspace int64
	missing   []blob.Blob
	id        int64 // once it is stored
	upload    string
}

// prepareBundle checks declared files against the rules, and in parallel finds their existing blobs.
func prepareBundle(text []byte, files []sitefile.File, space *blob.Space) (*preparedBundle, error) {
	made := &preparedBundle{}
	blobs := blobsOfFiles(files)
	var looking sync.WaitGroup
	if len(files) <= toolapi.MaxFiles { // otherwise the bundle is refused
		looking.Go(func() { made.missing = space.Missing(blobs) })
	}
	b, err := bundle.New(text, files)
	if err == nil {
		made.packed, err = pack(b, blobs)
	}
	looking.Wait()
	return made, err
}

// storeUpload finds or makes the upload of a bundle.
func (p *pagesCall) storeUpload(
	t tx, args toolapi.DeclareArgs, b *preparedBundle, fingerprint []byte,
) (reply storedReply, err error) {
	if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
		return reply, err
	}
	site, err := p.pagesSite(args.SiteID)
	if err != nil {
		return reply, err
	}
	if reply, found, err := p.storedResponse(t, fingerprint); found || err != nil {
		return reply, err
	}
	idle := p.now.Add(-uploadIdle).UnixMilli()
	status := http.StatusOK
	var u uploadRow
	found, err := t.queryOne(uploadQuery+"u.site_id = ? AND u.holder_id = ? AND b.digest = ? AND u.revision IS NULL AND u.touched_at > ?",
		[]any{site.id, p.who.holder, b.Digest, idle}, u.columns()...)
	if err != nil {
		return reply, err
	}
	if !found {
		status = http.StatusCreated
		if u, err = p.newUpload(site, args, b); err != nil {
			return reply, err
		}
	} else if err := t.exec("UPDATE uploads SET touched_at = ?, base_given = ?, base_revision = ? WHERE id = ?",
		p.now.UnixMilli(), args.BaseRevision.Given, orNull(args.BaseRevision.Revision), u.id); err != nil {
		return reply, err
	}
	u.touched = p.now.UnixMilli()
	b.upload = u.id
	if b.workspace != p.in.id { // the key's pin has changed meanwhile
		if b.missing, _, err = t.missingFromWorkspace(p.service, p.in.id, u.bundle.Int64); err != nil {
			return reply, err
		}
	}
	result := p.describe(u, b.missing)
	return p.storeResponse(fingerprint, status, result, entry{
		outcome: "done", summary: fmt.Sprintf("Declared %d files for site %s.", len(b.Files), site.name),
	})
}

func orNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// newUpload stores an upload and, unless the workspace has it, its bundle.
func (p *pagesCall) newUpload(site siteRow, args toolapi.DeclareArgs, b *preparedBundle) (uploadRow, error) {
	if err := p.makeRoomForUpload(site.id); err != nil {
		return uploadRow{}, err
	}
	id, err := p.storeBundle(p.in.id, b.packed)
	if err != nil {
		return uploadRow{}, err
	}
	b.id = id
	u := uploadRow{
		id: "upl_" + rand.Text(), site: site.id, workspace: p.in.id, bundle: sql.NullInt64{Int64: id, Valid: true},
		digest: orNull(b.Digest), count: sql.NullInt64{Int64: int64(len(b.Files)), Valid: true},
		bytes: sql.NullInt64{Int64: b.Bytes(), Valid: true},
	}
	return u, p.exec("INSERT INTO uploads (id, holder_id, workspace_id, site_id, bundle_id, base_given, "+
		"base_revision, created_at, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		u.id, p.who.holder, p.in.id, site.id, id, args.BaseRevision.Given, orNull(args.BaseRevision.Revision),
		p.now.UnixMilli(), p.now.UnixMilli())
}

// describe makes the result of declare and of status.
func (p *pagesCall) describe(u uploadRow, missing []blob.Blob) *toolapi.Upload {
	result := &toolapi.Upload{
		UploadID: u.id, State: toolapi.UploadOpen, BundleDigest: "sha256:" + u.digest.String, Required: []string{},
		Files: int(u.count.Int64), Bytes: u.bytes.Int64, ExpiresAt: formatTime(u.touched + uploadIdle.Milliseconds()),
		Limits: toolapi.UploadLimits{MaxParallel: toolapi.MaxParallel, MaxFileBytes: toolapi.MaxFileBytes}, Revision: u.revision.String,
	}
	result.Fill(p.as)
	if u.revision.Valid {
		result.State = toolapi.UploadFinalized
		return result
	}
	for _, b := range missing {
		result.Required = append(result.Required, b.SHA256)
		result.MissingBytes += b.Size
	}
	if len(missing) == 0 {
		result.State = toolapi.UploadComplete
	}
	return result
}

// findUpload finds the upload that a request names. Uploads of other holders get the response for unknown ones.
func (p *pagesCall) findUpload(t tx) (u uploadRow, err error) {
	if p.tx = t; !p.kind.Sends { // admit has just identified the caller of a sending endpoint
		if err := p.enter(t); err != nil {
			return u, err
		}
	}
	if err := t.queryOr(noUpload(), uploadQuery+"u.id = ? AND u.holder_id = ?", []any{p.id, p.who.holder}, u.columns()...); err != nil {
		return u, err
	}
	return u, p.checkUsable(&u)
}

// checkUsable enters the workspace of an upload, and refuses one that has expired.
func (p *pagesCall) checkUsable(u *uploadRow) error {
	if reached, err := p.enterWorkspaceOf(u.workspace); err != nil || !reached {
		if err == nil {
			err = noUpload()
		}
		return err
	}
	idle := p.now.Sub(time.UnixMilli(max(u.touched, p.service.uploadUses.last(u.id))))
	switch {
	case u.revision.Valid:
	case idle >= uploadIdle+uploadMemory:
		return noUpload()
	case idle >= uploadIdle, !u.bundle.Valid:
		return toolapi.NewPagesError(toolapi.CodeUploadExpired,
			"The upload expired, or was dropped for a later one: declare the bundle again.")
	}
	return nil
}

func noUpload() error {
	return toolapi.NewPagesError(toolapi.CodeUploadNotFound, "The upload does not exist: declare the bundle again.")
}

// noteUse records the use of an upload, and stores it from time to time.
func (p *pagesCall) noteUse(u *uploadRow) error {
	u.touched = max(u.touched, p.now.UnixMilli())
	if !p.service.uploadUses.note(u.id, p.now) {
		return nil
	}
	return p.service.db.write(context.WithoutCancel(p.x.r.Context()), func(t tx) error {
		return t.exec("UPDATE uploads SET touched_at = max(touched_at, ?) WHERE id = ?", p.now.UnixMilli(), u.id)
	})
}

// uploadStatus is GET /pages/uploads/{id}.
func (p *pagesCall) uploadStatus() error {
	var u uploadRow
	var result *toolapi.Upload
	err := p.service.db.read(p.x.r.Context(), func(t tx) (err error) {
		if u, err = p.findUpload(t); err != nil {
			return err
		}
		u.touched = max(u.touched, p.now.UnixMilli())
		var missing []blob.Blob
		if !u.revision.Valid {
			if missing, _, err = t.missingFromWorkspace(p.service, u.workspace, u.bundle.Int64); err != nil {
				return err
			}
		}
		result = p.describe(u, missing)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.noteUse(&u); err != nil {
		return err
	}
	return p.sendResult(http.StatusOK, result)
}

func uploadClosed() error {
	return toolapi.NewPagesError(toolapi.CodeUploadClosed, "The upload is finalized and takes no more blobs.")
}

// openUpload is an upload that is not finalized. A site has at most toolapi.MaxOpenUploads.
type openUpload struct {
	toolapi.OpenUpload
	touched int64
}

// openUploads returns the open uploads of a site, the longest unused first.
func (p *pagesCall) openUploads(site string) ([]openUpload, error) {
	all, err := list(p.tx, func(rows *sql.Rows, u *openUpload) error {
		var created int64
		err := rows.Scan(&u.UploadID, &u.Files, &u.Bytes, &created, &u.touched, &u.By)
		u.CreatedAt = formatTime(created)
		return err
	}, `SELECT u.id, b.file_count, b.bytes, u.created_at, u.touched_at, h.name
			FROM uploads u JOIN bundles b ON b.id = u.bundle_id JOIN holders h ON h.id = u.holder_id
		WHERE u.site_id = ? AND u.revision IS NULL AND u.touched_at > ?`, site, p.now.Add(-uploadIdle-touchStep).UnixMilli())
	for i := range all {
		u := &all[i]
		u.touched = max(u.touched, p.service.uploadUses.last(u.UploadID))
		u.UsedAt, u.ExpiresAt = formatTime(u.touched), formatTime(u.touched+uploadIdle.Milliseconds())
		u.Sending = p.service.uploadUses.isSending(u.UploadID, p.now)
	}
	all = slices.DeleteFunc(all, func(u openUpload) bool { return p.now.Sub(time.UnixMilli(u.touched)) >= uploadIdle })
	slices.SortFunc(all, func(a, b openUpload) int {
		return cmp.Or(cmp.Compare(a.touched, b.touched), cmp.Compare(a.CreatedAt, b.CreatedAt))
	})
	return all, err
}

// makeRoomForUpload expires the longest unused upload of a site with too many, except uploads in progress.
func (p *pagesCall) makeRoomForUpload(site string) error {
	open, err := p.openUploads(site)
	if err != nil || len(open) < toolapi.MaxOpenUploads {
		return err
	}
	idle := slices.IndexFunc(open, func(u openUpload) bool { return !u.Sending })
	if idle < 0 {
		return toolapi.NewPagesError(toolapi.CodeTooManyUploads,
			fmt.Sprintf("The site has %d uploads, and clients are sending to all of them: wait for one, or cancel one.", len(open)))
	}
	// A client that sends to it later gets CodeUploadExpired.
	if err := p.exec("UPDATE uploads SET bundle_id = NULL WHERE id = ?", open[idle].UploadID); err != nil {
		return err
	}
	return p.audit(entry{
		outcome: "done",
		summary: fmt.Sprintf("The upload of %s by %s was dropped for a later one.", open[idle].CreatedAt, quoteName(open[idle].By)),
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
	return p.sendResult(http.StatusOK, result)
}

// cancelUpload is DELETE /pages/uploads/{id}, for an upload of the holder, or of a workspace in which the holder may publish.
func (p *pagesCall) cancelUpload() error {
	err := p.service.db.write(p.x.r.Context(), func(t tx) error {
		p.tx = t
		if err := p.enter(t); err != nil {
			return err
		}
		var u uploadRow
		if err := t.queryOr(noUpload(), uploadQuery+"u.id = ?", []any{p.id}, u.columns()...); err != nil {
			return err
		}
		var holder int64
		if _, err := t.queryOne("SELECT holder_id FROM uploads WHERE id = ?", []any{p.id}, &holder); err != nil {
			return err
		}
		mayCancel := holder == p.who.holder || slices.ContainsFunc(p.who.reachableWorkspaces(), func(w membership) bool {
			return w.id == u.workspace && roleAllows(w.role, publishPages)
		})
		if !mayCancel {
			return noUpload()
		}
		if err := p.checkUsable(&u); err != nil {
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
