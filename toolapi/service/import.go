package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/archive"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// importArchive is POST /pages/imports.
func (p *pagesCall) importArchive() error {
	var s siteRow
	err := p.service.db.read(p.x.r.Context(), func(t tx) (err error) {
		s, err = p.siteOfQuery(t)
		return err
	})
	if err != nil {
		return err
	}
	kind, err := archiveKind(p.x.r.Header)
	if err != nil {
		return err
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	spooled, sum, err := p.spool(store)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(spooled.file.Close(), os.Remove(spooled.file.Name())) }() // it holds nothing that is kept
	select {
	case p.service.unpacking <- struct{}{}:
		defer func() { <-p.service.unpacking }()
	case <-p.x.r.Context().Done():
		return context.Cause(p.x.r.Context())
	}
	in := &imported{space: store.Space(p.in.id)}
	defer in.release()
	if err := archive.Read(spooled.file, spooled.size, kind, in.take); err != nil {
		return err
	}
	b, err := in.bundle()
	if err != nil {
		return err
	}
	found := configs{}
	for _, f := range b.Files {
		found.note(f.Path, f.SHA256)
	}
	if err := found.check(b.Text, in.space); err != nil {
		return err
	}
	if err := p.service.checkLeaks(p.x.r.Context(), s.id, in.space, b.Text, uploadedFiles(b)); err != nil {
		return err
	}
	if err := in.space.Sync(uniqueHashes(b.Files)); err != nil {
		return err
	}
	var k storedReply
	err = p.service.db.write(p.x.r.Context(), func(t tx) (err error) {
		k, err = p.finish(t, b, sum)
		return err
	})
	if err != nil {
		return err
	}
	p.sendStored(k)
	return nil
}

// archiveKind is what a body is declared as.
func archiveKind(h http.Header) (archive.Kind, error) {
	sent, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err == nil {
		switch sent {
		case "application/zip":
			return archive.Zip, nil
		case "application/gzip":
			return archive.TarGzip, nil
		}
	}
	return 0, toolapi.NewPagesError(toolapi.CodeArchiveType, "Send a zip as application/zip, or a gzipped tar as application/gzip.")
}

// spool is a body in a file.
type spool struct {
	file *os.File
	size int64
}

// spool stores the body in a temporary file and checks what the request says of it.
func (p *pagesCall) spool(store *blob.Store) (s spool, sum []byte, err error) {
	r := p.x.r
	tooLarge := func() error {
		return toolapi.NewPagesError(toolapi.CodePagesBodyTooLarge, fmt.Sprintf("An archive may have %d bytes.", toolapi.MaxArchiveBytes))
	}
	if r.ContentLength > toolapi.MaxArchiveBytes {
		return s, nil, tooLarge()
	}
	if s.file, err = store.Temporary(); err != nil {
		return s, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.file.Close(), os.Remove(s.file.Name()))
		}
	}()
	digest := sha256.New()
	body := p.pacedBody()
	s.size, err = io.Copy(io.MultiWriter(s.file, digest), io.LimitReader(body, toolapi.MaxArchiveBytes+1))
	switch {
	case body.failed != nil:
		return s, nil, blobError(body.failed, body, 0)
	case err != nil:
		return s, nil, err
	case s.size > toolapi.MaxArchiveBytes:
		return s, nil, tooLarge()
	case s.size == 0:
		return s, nil, toolapi.NewPagesError(toolapi.CodeArchiveInvalid, "The request has no archive.")
	}
	return s, digest.Sum(nil), checkDigest(r.Header, digest)
}

// checkDigest compares a body with Repr-Digest (RFC 9530). Algorithms other than
// sha-256 are passed over.
func checkDigest(h http.Header, sum hash.Hash) error {
	for member := range strings.SplitSeq(strings.Join(h.Values("Repr-Digest"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(member), "=")
		if name != "sha-256" {
			continue
		}
		value, _, _ = strings.Cut(value, ";")
		if value != ":"+base64.StdEncoding.EncodeToString(sum.Sum(nil))+":" {
			return toolapi.NewPagesError(toolapi.CodeReprDigestMismatch, "The archive is not the one that Repr-Digest tells of.")
		}
	}
	return nil
}

// imported is what an archive held. Its blobs are pinned: nobody refers to them yet.
type imported struct {
	space *blob.Space
	files []sitefile.File
	pins  []func()
	// Of the files called as the manifest is: the one at the top, and the first in a
	// folder there. Each is nil when there is none.
	top, inner []byte
	folder     string // of inner, with a slash
}

// take stores a file.
func (in *imported) take(name string, contents []byte) error {
	if name == bundle.ManifestFile {
		in.top = append([]byte{}, contents...)
		return nil
	}
	if path.Base(name) == bundle.ManifestFile && strings.Count(name, "/") == 1 && in.inner == nil {
		in.inner, in.folder = append([]byte{}, contents...), path.Dir(name)+"/"
	}
	if err := bundle.CheckPath(name); err != nil {
		return err
	}
	digest := sha256.Sum256(contents)
	f := sitefile.File{Path: name, SHA256: hex.EncodeToString(digest[:]), Size: int64(len(contents))}
	in.pins = append(in.pins, in.space.Pin(f.SHA256))
	if _, err := in.space.Put(f.SHA256, f.Size, bytes.NewReader(contents)); err != nil {
		return err
	}
	in.files = append(in.files, f)
	return nil
}

func (in *imported) release() {
	for _, release := range in.pins {
		release()
	}
}

// bundle is the site in the archive: at its top, or in its only folder.
func (in *imported) bundle() (*bundle.Bundle, error) {
	if in.top != nil {
		return bundle.New(in.top, in.files)
	}
	if in.inner != nil { // in a second folder, neither folder would be the only one
		if stripped, ok := stripFolder(in.files, in.folder); ok {
			return bundle.New(in.inner, stripped)
		}
	}
	return nil, &bundle.FaultError{
		Code: toolapi.CodeManifestInvalid, Path: bundle.ManifestFile,
		Message: "The archive has no " + bundle.ManifestFile + " at its top, nor in its only folder.",
	}
}

// stripFolder takes a folder that holds everything off, and the manifest away.
func stripFolder(files []sitefile.File, folder string) (stripped []sitefile.File, ok bool) {
	for _, f := range files {
		if f.Path, ok = strings.CutPrefix(f.Path, folder); !ok {
			return nil, false
		}
		if f.Path != bundle.ManifestFile {
			stripped = append(stripped, f)
		}
	}
	return stripped, true
}

// finish makes a revision of what was imported.
func (p *pagesCall) finish(t tx, b *bundle.Bundle, sum []byte) (storedReply, error) {
	s, err := p.siteOfQuery(t)
	if err != nil {
		return storedReply{}, err
	}
	asked := append([]byte(s.id), sum...)
	if k, found, err := p.storedResponse(t, asked); found || err != nil {
		return k, err
	}
	packed, err := pack(b)
	if err != nil {
		return storedReply{}, err
	}
	id, err := t.storeBundle(p.in.id, packed)
	if err != nil {
		return storedReply{}, err
	}
	result := &toolapi.Imported{BundleDigest: "sha256:" + b.Digest}
	if err := t.ensureRevision(s.id, id, p.now, &result.Finalized); err != nil {
		return storedReply{}, err
	}
	result.Fill(p.as)
	status := http.StatusCreated
	if result.AlreadyExisted {
		status = http.StatusOK
	}
	return p.storeResponse(asked, status, result, entry{outcome: "done", summary: "Imported revision " + result.Revision + "."})
}
