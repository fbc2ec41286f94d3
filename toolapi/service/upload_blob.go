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
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// findListedBlob finds the upload that a request names, and the declared size of the blob.
func (p *pagesCall) findListedBlob(ctx context.Context) (u uploadRow, size int64, err error) {
	sum, err := hex.DecodeString(p.sum)
	if err != nil || len(p.sum) != 64 || strings.ToLower(p.sum) != p.sum {
		return u, 0, toolapi.NewPagesError(toolapi.CodeDigestMalformed,
			"The blob's address must end in its SHA-256: 64 lower-case hexadecimal digits.")
	}
	if u, err = p.findSendingUpload(ctx, p.version); err != nil {
		return u, 0, err
	}
	if err := p.checkUsable(&u); err != nil || !u.bundle.Valid {
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

// findSendingUpload finds the upload of a blob, cached for a version of the database. It does not read the digest and the
// counts, which come after the bundle's long list.
func (p *pagesCall) findSendingUpload(ctx context.Context, version int64) (uploadRow, error) {
	return readCached(p.service.db.cache, version, fmt.Sprint("upload ", p.who.holder, " ", p.id), func() (uploadRow, error) {
		return readTx(ctx, p.service.db, func(t tx) (u uploadRow, err error) {
			err = t.queryOr(noUpload(), "SELECT id, site_id, workspace_id, bundle_id, base_given, base_revision, "+
				"revision, touched_at FROM uploads WHERE id = ? AND holder_id = ?",
				[]any{p.id, p.who.holder}, &u.id, &u.site, &u.workspace, &u.bundle, &u.baseGiven, &u.base, &u.revision, &u.touched)
			return u, err
		})
	})
}

// hasBlob is HEAD /pages/uploads/{id}/blobs/{sha256}.
func (p *pagesCall) hasBlob() error {
	u, size, err := p.findListedBlob(p.x.r.Context())
	if err != nil {
		return err
	}
	if err := p.noteUse(&u); err != nil {
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
	defer p.service.uploadUses.send(u.id, p.service.now)()
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
	// The upload may have been cancelled or collected in the meantime: then nothing is stored.
	stillOpen := func() error {
		ctx := context.WithoutCancel(r.Context())
		version, err := p.service.db.cache.currentVersion(ctx)
		if err != nil {
			return err
		}
		u, err := p.findSendingUpload(ctx, version)
		if err == nil && !u.bundle.Valid {
			err = noUpload()
		}
		return err
	}
	had, err := store.Space(u.workspace).Put(p.sum, size, &checkedReader{contents, stillOpen})
	if err != nil {
		return blobError(err, body, size)
	}
	if err := p.noteUse(&u); err != nil {
		return err
	}
	status := http.StatusCreated
	if had {
		status = http.StatusOK
	}
	return p.sendResult(status, toolapi.Stored{OK: true, SHA256: p.sum, Size: size})
}

// decodeBlob returns the bytes of a blob in a body: plain, or one gzip member.
func decodeBlob(r *http.Request, body *pacedBody, size int64) (io.Reader, error) {
	switch encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); strings.ToLower(encoding) {
	case "", "identity":
		if r.ContentLength != size {
			return nil, sizeMismatch(size)
		}
		return body, nil
	case "gzip", "x-gzip":
		// gzip adds at most a few bytes.
		if r.ContentLength > size+size/16+1<<12 {
			return nil, toolapi.NewPagesError(toolapi.CodeEncodingInvalid, "The body is longer than the compressed file can be.")
		}
		return &gzipMember{body: body}, nil
	}
	return nil, toolapi.NewPagesError(toolapi.CodeEncoding, "Send the body uncompressed, or as gzip.")
}

func sizeMismatch(size int64) error {
	return toolapi.NewPagesError(toolapi.CodeSizeMismatch,
		fmt.Sprintf("The file was declared with %d bytes, but the body has a different length.", size))
}

// blobError makes the refusal of a blob that was not stored.
func blobError(err error, body *pacedBody, size int64) error {
	if body.failed != nil {
		if errors.Is(body.failed, os.ErrDeadlineExceeded) {
			return tooSlow()
		}
		return toolapi.NewPagesError(toolapi.CodeSizeMismatch, "The body ended before its length; nothing was stored.")
	}
	if errors.Is(err, errMember) {
		return toolapi.NewPagesError(toolapi.CodeEncodingInvalid, "The body is not exactly one gzip member; nothing was stored.")
	}
	mismatch, ok := errors.AsType[*blob.MismatchError](err)
	switch {
	case !ok:
		return err
	case mismatch.Size:
		return sizeMismatch(size)
	}
	return toolapi.NewPagesError(toolapi.CodeDigestMismatch, "The SHA-256 of the bytes differs from the address; nothing was stored.")
}

// checkedReader fails at its end unless check returns nil.
type checkedReader struct {
	io.Reader
	check func() error
}

// Read implements io.Reader.
func (f *checkedReader) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		if failed := f.check(); failed != nil {
			err = failed
		}
	}
	return n, err
}

// pacedBody is a body that must bring paceBytes within each wait.
type pacedBody struct {
	r       io.Reader
	control *http.ResponseController
	wait    time.Duration
	since   int // bytes since the deadline was set
	started bool
	failed  error
}

func (p *pagesCall) pacedBody() *pacedBody {
	return &pacedBody{r: p.x.r.Body, control: http.NewResponseController(p.x.ResponseWriter), wait: time.Duration(p.service.pace.Load())}
}

// Read implements io.Reader.
func (p *pacedBody) Read(b []byte) (int, error) {
	if !p.started || p.since >= paceBytes {
		p.started, p.since = true, 0
		// A test's recorder has no deadlines.
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

// gzipMember reads one gzip member, without trailing bytes.
type gzipMember struct {
	body   *pacedBody
	packed *bufio.Reader
	plain  *gzip.Reader
}

// Read implements io.Reader.
func (m *gzipMember) Read(b []byte) (int, error) {
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

// uploadUses records the last uses of uploads in memory, so that a blob needs no commit for that, and the uploads in progress.
type uploadUses struct {
	mu  sync.Mutex
	ids map[string]uploadUse
}

type uploadUse struct {
	last, written int64
	sending       int   // current requests
	sent          int64 // the end of the last one
}

// send marks an upload as in progress until done is called.
func (l *uploadUses) send(id string, now func() time.Time) (done func()) {
	l.change(id, func(t *uploadUse) { t.sending++ })
	return func() {
		l.change(id, func(t *uploadUse) { t.sending, t.sent = t.sending-1, now().UnixMilli() })
	}
}

func (l *uploadUses) change(id string, how func(*uploadUse)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]uploadUse{}
	}
	t := l.ids[id]
	how(&t)
	l.ids[id] = t
}

// isSending reports whether an upload is in progress: a request is active, or one ended within sendingGap, since a client reads files
// between blobs.
func (l *uploadUses) isSending(id string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.ids[id]
	passed := now.Sub(time.UnixMilli(t.sent)) // below 0 when the clock was set back
	return t.sending > 0 || t.sent > 0 && passed >= 0 && passed < sendingGap
}

// note records a use, and reports whether it is due to be stored.
func (l *uploadUses) note(id string, at time.Time) (due bool) {
	l.change(id, func(t *uploadUse) {
		t.last = max(t.last, at.UnixMilli())
		if due = t.last-t.written >= touchStep.Milliseconds(); due {
			t.written = t.last
		}
	})
	return due
}

// wrote records that a transaction stored the use.
func (l *uploadUses) wrote(id string, at time.Time) {
	l.change(id, func(t *uploadUse) { t.last, t.written = max(t.last, at.UnixMilli()), max(t.written, at.UnixMilli()) })
}

func (l *uploadUses) last(id string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids[id].last
}

// clean forgets idle uploads whose use is stored.
func (l *uploadUses) clean(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, t := range l.ids {
		if now.UnixMilli()-max(t.last, t.sent) > 2*touchStep.Milliseconds() && t.written == t.last && t.sending == 0 {
			delete(l.ids, id)
		}
	}
}
