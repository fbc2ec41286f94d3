package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/archive"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// importArchive is POST /pages/imports.
func (p *pagesCall) importArchive() error {
	s, err := readTx(p.x.r.Context(), p.service.db, p.siteOfQuery)
	if err != nil {
		return err
	}
	var kind archive.Kind
	switch sent, _, err := mime.ParseMediaType(p.x.r.Header.Get("Content-Type")); {
	case err == nil && sent == "application/zip":
		kind = archive.Zip
	case err == nil && sent == "application/gzip":
		kind = archive.TarGzip
	default:
		return toolapi.NewPagesError(toolapi.CodeArchiveType, "Send a zip as application/zip, or a gzipped tar as application/gzip.")
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	file, size, sum, err := p.spool(store)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // a temporary file
	select {
	case p.service.unpacking <- struct{}{}:
		defer func() { <-p.service.unpacking }()
	case <-p.x.r.Context().Done():
		return context.Cause(p.x.r.Context())
	}
	in := &imported{space: store.Space(p.in.id)}
	defer in.release()
	if err := archive.Read(file, size, kind, in.take); err != nil {
		return err
	}
	b, err := in.bundle()
	if err != nil {
		return err
	}
	files, sums := b.Files, make([]string, len(b.Files))
	for i, f := range b.Files {
		sums[i] = f.SHA256
	}
	if err := checkFlags(b.Text, in.space, files); err != nil {
		return err
	}
	if err := checkMigrations(b.Text, in.space, files); err != nil {
		return err
	}
	if err := p.service.checkLeaks(p.x.r.Context(), s.id, in.space, b.Text, files); err != nil {
		return err
	}
	if err := in.space.Sync(sums); err != nil {
		return err
	}
	reply, err := writeTx(p.x.r.Context(), p.service.db, func(t tx) (storedReply, error) { return p.storeImport(t, b, sum) })
	if err != nil {
		return err
	}
	p.sendReply(reply)
	return nil
}

// spool stores the body in a temporary file, and checks its size and digest.
func (p *pagesCall) spool(store *blob.Store) (file *os.File, size int64, sum []byte, err error) {
	r := p.x.r
	tooLarge := toolapi.NewPagesError(toolapi.CodePagesBodyTooLarge, fmt.Sprintf("The limit for an archive is %d "+
		"bytes.", toolapi.MaxArchiveBytes))
	if r.ContentLength > toolapi.MaxArchiveBytes {
		return nil, 0, nil, tooLarge
	}
	if file, err = store.Temporary(); err != nil {
		return nil, 0, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}()
	digest := sha256.New()
	body := p.pacedBody()
	size, err = io.Copy(io.MultiWriter(file, digest), io.LimitReader(body, toolapi.MaxArchiveBytes+1))
	switch {
	case body.failed != nil:
		return file, 0, nil, blobError(body.failed, body, 0)
	case err != nil:
		return file, 0, nil, err
	case size > toolapi.MaxArchiveBytes:
		return file, 0, nil, tooLarge
	case size == 0:
		return file, 0, nil, toolapi.NewPagesError(toolapi.CodeArchiveInvalid, "The request has no archive.")
	}
	sum = digest.Sum(nil)
	return file, size, sum, checkDigest(r.Header, sum)
}

// checkDigest compares the hash of a body with Repr-Digest (RFC 9530). It ignores algorithms other than sha-256.
func checkDigest(h http.Header, sum []byte) error {
	for member := range strings.SplitSeq(strings.Join(h.Values("Repr-Digest"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(member), "=")
		if name != "sha-256" {
			continue
		}
		value, _, _ = strings.Cut(value, ";")
		if value != ":"+base64.StdEncoding.EncodeToString(sum)+":" {
			return toolapi.NewPagesError(toolapi.CodeReprDigestMismatch, "The archive does not match Repr-Digest.")
		}
	}
	return nil
}

// imported is the contents of an archive. Its blobs are pinned, since no bundle refers to them yet.
type imported struct {
	space *blob.Space
	files []sitefile.File
	pins  []func()
	// The manifests at the top, and first in a folder there; nil for none.
	top, inner []byte
	folder     string // of inner, with a slash
}

// take stores a file of the archive.
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

// bundle makes a bundle of the site in the archive: at its top, or in its only folder.
func (in *imported) bundle() (*bundle.Bundle, error) {
	if in.top != nil {
		return bundle.New(in.top, in.files)
	}
	outside := func(f sitefile.File) bool { return !strings.HasPrefix(f.Path, in.folder) }
	if in.inner != nil && !slices.ContainsFunc(in.files, outside) {
		var files []sitefile.File
		for _, f := range in.files {
			if f.Path = strings.TrimPrefix(f.Path, in.folder); f.Path != bundle.ManifestFile {
				files = append(files, f)
			}
		}
		return bundle.New(in.inner, files)
	}
	return nil, &bundle.FaultError{
		Code: toolapi.CodeManifestInvalid, Path: bundle.ManifestFile,
		Message: "The archive has no " + bundle.ManifestFile + " at its top or in its only folder.",
	}
}

// storeImport makes a revision of an import.
func (p *pagesCall) storeImport(t tx, b *bundle.Bundle, sum []byte) (reply storedReply, err error) {
	s, err := p.siteOfQuery(t)
	if err != nil {
		return reply, err
	}
	fingerprint := append([]byte(s.id), sum...)
	if reply, found, err := p.storedResponse(t, fingerprint); found || err != nil {
		return reply, err
	}
	packed, err := pack(b, blobsOfFiles(b.Files))
	if err != nil {
		return reply, err
	}
	id, err := t.storeBundle(p.in.id, packed)
	if err != nil {
		return reply, err
	}
	result := &toolapi.Imported{BundleDigest: "sha256:" + b.Digest}
	if err := t.ensureRevision(s.id, id, p.now, &result.Finalized); err != nil {
		return reply, err
	}
	result.Fill(p.as)
	status := http.StatusCreated
	if result.AlreadyExisted {
		status = http.StatusOK
	}
	return p.storeResponse(fingerprint, status, result, entry{outcome: "done", summary: "Imported revision " + result.Revision + "."})
}
