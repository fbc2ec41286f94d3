package service

import (
	"bytes"
	"compress/gzip"
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
	bundle    sql.NullInt64 // not there when only the id is remembered
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

// newUploadID is "upl_" and 128 random bits in base 32.
func newUploadID() string { return "upl_" + rand.Text() }

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
	// Whose site it is comes first: of others nobody learns whether a bundle would do.
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
		files[i] = sitefile.File{Path: f.Path, SHA256: string(f.SHA256), Size: int64(f.Size), ContentType: string(f.ContentType)}
	}
	b, err := bundle.New(args.Manifest, files)
	if err != nil {
		return err
	}
	asked, err := askedFor(args, b)
	if err != nil {
		return err
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	var k storedReply
	err = store.Use(func() error {
		made, err := prepare(b, store, p.in.id)
		if err != nil {
			return err
		}
		return p.service.db.write(p.x.r.Context(), func(t tx) (err error) {
			k, err = p.open(t, args, made, asked)
			return err
		})
	})
	if err != nil {
		return err
	}
	p.sendStored(k)
	return nil
}

// packed is a bundle as it is stored.
type packed struct {
	*bundle.Bundle
	files []byte
	blobs blobList
}

func pack(b *bundle.Bundle) (p packed, err error) {
	p.Bundle = b
	if p.blobs, err = packBlobs(b.Files); err != nil {
		return p, err
	}
	p.files, err = packFiles(b.Files)
	return p, err
}

// prepared is a bundle that a workspace is to have. What takes long is done before the
// transaction: nobody else writes to the database while one does.
type prepared struct {
	packed

	workspace int64
	lacks     []blobRow
}

// prepare packs a bundle, and meanwhile looks which of its blobs are there.
func prepare(b *bundle.Bundle, store *blob.Store, workspace int64) (*prepared, error) {
	made := &prepared{workspace: workspace}
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { made.packed, err = pack(b) })
	made.lacks = missingBlobs(store.Space(workspace), blobRows(b.Files))
	wg.Wait()
	return made, err
}

// askedFor is equal for declares that ask for the same thing, in whichever workspace.
// The digest stands for the manifest and the files.
func askedFor(args toolapi.DeclareArgs, b *bundle.Bundle) ([]byte, error) {
	args.Manifest, args.Files, args.Scope = json.RawMessage(`"`+b.Digest+`"`), nil, toolapi.Scope{}
	text, err := json.Marshal(args)
	sum := sha256.Sum256(text)
	return sum[:], err
}

// open finds or makes the upload of a bundle.
func (p *pagesCall) open(t tx, args toolapi.DeclareArgs, b *prepared, asked []byte) (storedReply, error) {
	if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
		return storedReply{}, err
	}
	site, err := p.pagesSite(args.SiteID)
	if err != nil {
		return storedReply{}, err
	}
	if k, found, err := p.storedResponse(t, asked); found || err != nil {
		return k, err
	}
	idle := p.now.Add(-uploadIdle).UnixMilli()
	status := http.StatusOK
	var u uploadRow
	found, err := t.queryOne(uploadQuery+"u.site_id = ? AND u.holder_id = ? AND b.digest = ? AND u.revision IS NULL AND u.touched_at > ?",
		[]any{site.id, p.who.holder, b.Digest, idle}, u.columns()...)
	if err != nil {
		return storedReply{}, err
	}
	if !found {
		status = http.StatusCreated
		if u, err = p.newUpload(site, args, b); err != nil {
			return storedReply{}, err
		}
	} else if err := t.exec("UPDATE uploads SET touched_at = ?, base_given = ?, base_revision = ? WHERE id = ?",
		p.now.UnixMilli(), args.BaseRevision.Given, orNull(args.BaseRevision.Revision), u.id); err != nil {
		return storedReply{}, err
	}
	u.touched = p.now.UnixMilli()
	if b.workspace != p.in.id { // the key was pinned to another one meanwhile
		if b.lacks, _, err = t.missingFromWorkspace(p.service, p.in.id, u.bundle.Int64); err != nil {
			return storedReply{}, err
		}
	}
	result := p.describe(u, b.lacks)
	return p.storeResponse(asked, status, result, entry{
		outcome: "done", summary: fmt.Sprintf("Declared %d files for page %s.", len(b.Files), site.name),
	})
}

func orNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// newUpload stores an upload and, unless the workspace has it, its bundle.
func (p *pagesCall) newUpload(site siteRow, args toolapi.DeclareArgs, b *prepared) (uploadRow, error) {
	none := uploadRow{}
	if err := p.uploadRoom(site.id); err != nil {
		return none, err
	}
	id, err := p.storeBundle(p.in.id, b.packed)
	if err != nil {
		return none, err
	}
	u := uploadRow{
		id: newUploadID(), site: site.id, workspace: p.in.id, bundle: sql.NullInt64{Int64: id, Valid: true},
		digest: orNull(b.Digest), count: sql.NullInt64{Int64: int64(len(b.Files)), Valid: true},
		bytes: sql.NullInt64{Int64: b.Bytes(), Valid: true},
	}
	return u, p.exec("INSERT INTO uploads (id, holder_id, workspace_id, site_id, bundle_id, base_given, "+
		"base_revision, created_at, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		u.id, p.who.holder, p.in.id, site.id, id, args.BaseRevision.Given, orNull(args.BaseRevision.Revision),
		p.now.UnixMilli(), p.now.UnixMilli())
}

// storeBundle stores a bundle of a workspace, unless it is there.
func (t tx) storeBundle(workspace int64, b packed) (id int64, err error) {
	found, err := t.queryOne("SELECT id FROM bundles WHERE workspace_id = ? AND digest = ?", []any{workspace, b.Digest}, &id)
	if err != nil {
		return 0, err
	}
	if found {
		return id, t.exec("UPDATE bundles SET released_at = NULL WHERE id = ?", id)
	}
	_, err = t.queryOne("INSERT INTO bundles (workspace_id, digest, manifest, files, blobs, file_count, bytes) VALUES "+
		"(?, ?, ?, ?, ?, ?, ?) RETURNING id",
		[]any{workspace, b.Digest, b.Text, b.files, []byte(b.blobs), len(b.Files), b.Bytes()}, &id)
	return id, err
}

// packFiles is the list of files as it is stored.
func packFiles(files []sitefile.File) ([]byte, error) {
	list := make([]toolapi.UploadFile, len(files))
	for i, f := range files {
		list[i] = toolapi.UploadFile{
			Path: f.Path, SHA256: toolapi.Digest(f.SHA256), Size: toolapi.Counter(f.Size),
			ContentType: toolapi.MediaType(f.ContentType),
		}
	}
	var packed bytes.Buffer
	// What is long of it, the hashes, no level shortens.
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(w).Encode(list); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// unpackFiles reads a stored list of files.
func unpackFiles(packed []byte) (list []toolapi.UploadFile, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	err = json.NewDecoder(r).Decode(&list)
	return list, err
}

// missingFromWorkspace are the blobs of a bundle that the workspace lacks.
func (t tx) missingFromWorkspace(s *Service, workspace, bundle int64) (lacks, all []blobRow, err error) {
	store, err := s.store()
	if err != nil {
		return nil, nil, err
	}
	packed, err := t.blobList(bundle)
	if err != nil {
		return nil, nil, err
	}
	all = packed.rows()
	return missingBlobs(store.Space(workspace), all), all, nil
}

// describe is the answer of declare and of status. lacks are the blobs that are missing.
func (p *pagesCall) describe(u uploadRow, lacks []blobRow) *toolapi.Upload {
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
	for _, b := range lacks {
		result.Required = append(result.Required, b.sum)
		result.MissingBytes += b.size
	}
	if len(lacks) == 0 {
		result.State = toolapi.UploadComplete
	}
	return result
}

// find finds the upload that a request names. Those of others are answered like those
// that there never were.
func (p *pagesCall) findUpload(t tx) (u uploadRow, err error) {
	if p.tx = t; !p.kind.Sends { // those that send were looked at a moment ago
		if err := p.enter(t); err != nil {
			return u, err
		}
	}
	found, err := t.queryOne(uploadQuery+"u.id = ? AND u.holder_id = ?", []any{p.id, p.who.holder}, u.columns()...)
	if err == nil && !found {
		err = noUpload()
	}
	if err != nil {
		return u, err
	}
	return u, p.usable(&u)
}

// usable reports why an upload of the holder cannot be used.
func (p *pagesCall) usable(u *uploadRow) error {
	if reached, err := p.enterWorkspaceOf(u.workspace); err != nil || !reached {
		if err == nil {
			err = noUpload()
		}
		return err
	}
	idle := p.now.Sub(time.UnixMilli(max(u.touched, p.service.touches.last(u.id))))
	switch {
	case u.revision.Valid:
	case idle >= uploadIdle+uploadMemory:
		return noUpload()
	case idle >= uploadIdle, !u.bundle.Valid:
		return toolapi.NewPagesError(
			toolapi.CodeUploadExpired,
			"The upload was not used for too long, or gave its place to a later one: declare the bundle again.",
		)
	}
	return nil
}

func noUpload() error {
	return toolapi.NewPagesError(toolapi.CodeUploadNotFound, "There is no such upload: declare the bundle again.")
}

// used notes that an upload is in use, and writes that down from time to time.
func (p *pagesCall) used(u *uploadRow) error {
	u.touched = max(u.touched, p.now.UnixMilli())
	if !p.service.touches.note(u.id, p.now) {
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
		var lacks []blobRow
		if !u.revision.Valid {
			if lacks, _, err = t.missingFromWorkspace(p.service, u.workspace, u.bundle.Int64); err != nil {
				return err
			}
		}
		result = p.describe(u, lacks)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.used(&u); err != nil {
		return err
	}
	return p.giveResult(http.StatusOK, result)
}

func uploadClosed() error {
	return toolapi.NewPagesError(toolapi.CodeUploadClosed, "The upload is finalized and takes nothing more.")
}

// uniqueHashes are those of a list of files, each once.
func uniqueHashes(files []sitefile.File) []string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.SHA256
	}
	slices.Sort(all)
	return slices.Compact(all)
}
