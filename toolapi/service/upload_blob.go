package service

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// findListedBlob finds the upload that a request names, and the size of its blob.
func (p *pagesCall) findListedBlob(ctx context.Context) (u uploadRow, size int64, err error) {
	sum, err := hex.DecodeString(p.sum)
	if err != nil || len(p.sum) != 64 || strings.ToLower(p.sum) != p.sum {
		return u, 0, toolapi.NewPagesError(
			toolapi.CodeDigestMalformed,
			"The blob's address must end in its SHA-256: 64 lower-case hexadecimal digits.",
		)
	}
	if u, err = p.findSendingUpload(ctx, p.version); err != nil {
		return u, 0, err
	}
	if err := p.usable(&u); err != nil || !u.bundle.Valid {
		return u, 0, err
	}
	list, err := p.service.blobsOf(ctx, u.bundle.Int64)
	if err != nil {
		return u, 0, err
	}
	size, found := list.find(sum)
	if !found {
		return u, 0, toolapi.NewPagesError(toolapi.CodeBlobNotListed, "The upload lists no file with this SHA-256.")
	}
	return u, size, nil
}

// findSendingUpload finds the upload that a blob is of, as it is since a version of the database. Its
// digest and its counts lie behind the bundle's long list, and are not read.
func (p *pagesCall) findSendingUpload(ctx context.Context, version int64) (uploadRow, error) {
	return readCached(p.service.db.lately, version, fmt.Sprint("upload ", p.who.holder, " ", p.id), func() (u uploadRow, err error) {
		err = p.service.db.read(ctx, func(t tx) error {
			found, err := t.queryOne("SELECT id, site_id, workspace_id, bundle_id, base_given, base_revision, "+
				"revision, touched_at FROM uploads WHERE id = ? AND holder_id = ?",
				[]any{p.id, p.who.holder}, &u.id, &u.site, &u.workspace, &u.bundle, &u.baseGiven, &u.base, &u.revision, &u.touched)
			if err == nil && !found {
				err = noUpload()
			}
			return err
		})
		return u, err
	})
}

// hasBlob is HEAD /pages/uploads/{id}/blobs/{sha256}.
func (p *pagesCall) hasBlob() error {
	u, size, err := p.findListedBlob(p.x.r.Context())
	if err != nil {
		return err
	}
	if err := p.used(&u); err != nil {
		return err
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	if !store.Space(u.workspace).Has(p.sum, size) {
		return toolapi.NewPagesError(toolapi.CodeBlobMissing, "The blob was not sent yet.")
	}
	p.x.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	p.x.Header().Set("Content-Type", "application/octet-stream")
	p.x.WriteHeader(http.StatusOK)
	return nil
}

// stillOpen reports as an error that the upload was cancelled or collected.
func (p *pagesCall) stillOpen(ctx context.Context) error {
	version, err := p.service.db.lately.currentVersion(ctx)
	if err != nil {
		return err
	}
	u, err := p.findSendingUpload(ctx, version)
	if err == nil && !u.bundle.Valid {
		err = noUpload()
	}
	return err
}

// sendBlob is PUT /pages/uploads/{id}/blobs/{sha256}.
func (p *pagesCall) sendBlob() error {
	r := p.x.r
	u, size, err := p.findListedBlob(r.Context())
	if err != nil {
		return err
	}
	if u.revision.Valid {
		return uploadClosed()
	}
	defer p.service.touches.send(u.id, p.service.now)()
	if r.ContentLength < 0 || r.ContentLength == 0 && r.Header.Get("Content-Length") == "" {
		return toolapi.NewPagesError(toolapi.CodeLengthRequired, "Send the blob with its Content-Length.")
	}
	body := p.pacedBody()
	contents, err := decodeBlob(r, body, size)
	if err != nil {
		return err
	}
	store, err := p.service.store()
	if err != nil {
		return err
	}
	// It may have been cancelled meanwhile: then nothing is stored.
	open := func() error { return p.stillOpen(context.WithoutCancel(r.Context())) }
	had, err := store.Space(u.workspace).Put(p.sum, size, &checkedReader{contents, open})
	if err != nil {
		return blobError(err, body, size)
	}
	if err := p.used(&u); err != nil {
		return err
	}
	status := http.StatusCreated
	if had {
		status = http.StatusOK
	}
	return p.giveResult(status, toolapi.Stored{OK: true, SHA256: p.sum, Size: size})
}

// decodeBlob is the bytes of a blob in a body: as they are, or as one gzip member.
func decodeBlob(r *http.Request, body *pacedBody, size int64) (io.Reader, error) {
	switch encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); strings.ToLower(encoding) {
	case "", "identity":
		if r.ContentLength != size {
			return nil, sizeMismatch(size)
		}
		return body, nil
	case "gzip", "x-gzip":
		// Packing makes nothing longer by more than a little.
		if r.ContentLength > size+size/16+1<<12 {
			return nil, toolapi.NewPagesError(toolapi.CodeEncodingInvalid, "The body is longer than the file packed can be.")
		}
		return &member{body: body}, nil
	}
	return nil, toolapi.NewPagesError(toolapi.CodeEncoding, "The body may be sent as it is, or as gzip.")
}

func sizeMismatch(size int64) error {
	return toolapi.NewPagesError(
		toolapi.CodeSizeMismatch,
		fmt.Sprintf("The file was declared with %d bytes, and another number was sent.", size),
	)
}

// blobError is why a blob was not stored, for who sent it.
func blobError(err error, body *pacedBody, size int64) error {
	if body.failed != nil {
		if errors.Is(body.failed, os.ErrDeadlineExceeded) {
			return tooSlow()
		}
		return toolapi.NewPagesError(toolapi.CodeSizeMismatch, "The body ended before its length; nothing was stored.")
	}
	if errors.Is(err, errMember) {
		return toolapi.NewPagesError(toolapi.CodeEncodingInvalid, "The body is not one whole gzip member; nothing was stored.")
	}
	mismatch, ok := errors.AsType[*blob.MismatchError](err)
	switch {
	case !ok:
		return err
	case mismatch.Size:
		return sizeMismatch(size)
	}
	return toolapi.NewPagesError(toolapi.CodeDigestMismatch, "The bytes have another SHA-256 than the address; nothing was stored.")
}

// checkedReader is a reader at whose end something must hold.
type checkedReader struct {
	io.Reader
	holds func() error
}

// Read implements io.Reader.
func (f *checkedReader) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		if broken := f.holds(); broken != nil {
			err = broken
		}
	}
	return n, err
}

// pacedBody is a body that must come with some speed.
type pacedBody struct {
	r       io.Reader
	control *http.ResponseController
	wait    time.Duration
	since   int // bytes since the deadline was set
	started bool
	failed  error
}

// pacedBody is the request's body.
func (p *pagesCall) pacedBody() *pacedBody {
	return &pacedBody{r: p.x.r.Body, control: http.NewResponseController(p.x.ResponseWriter), wait: time.Duration(p.service.pace.Load())}
}

// Read implements io.Reader.
func (p *pacedBody) Read(b []byte) (int, error) {
	if !p.started || p.since >= paceBytes {
		p.started, p.since = true, 0
		// What cannot be given a deadline, such as a test's recorder, has none.
		_ = p.control.SetReadDeadline(time.Now().Add(p.wait)) //nolint:forbidigo // of a socket
	}
	n, err := p.r.Read(b)
	p.since += n
	if err != nil && !errors.Is(err, io.EOF) {
		p.failed = err
	}
	return n, err
}

var errMember = errors.New("not one whole gzip member")

// member reads one gzip member and nothing behind it.
type member struct {
	body   *pacedBody
	packed *bufio.Reader
	plain  *gzip.Reader
}

// Read implements io.Reader.
func (m *member) Read(b []byte) (int, error) {
	if m.plain == nil {
		m.packed = bufio.NewReader(m.body)
		var err error
		if m.plain, err = gzip.NewReader(m.packed); err != nil {
			return 0, errors.Join(errMember, err)
		}
		m.plain.Multistream(false)
	}
	n, err := m.plain.Read(b)
	if errors.Is(err, io.EOF) {
		if _, err := m.packed.ReadByte(); !errors.Is(err, io.EOF) {
			return n, errors.Join(errMember, err)
		}
		return n, io.EOF
	}
	if err != nil {
		err = errors.Join(errMember, err)
	}
	return n, err
}
