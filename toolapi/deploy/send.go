package deploy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Progress counts the blobs and bytes of a Deployer. It may be read during an upload.
type Progress struct {
	Blobs, BlobsStored atomic.Int64
	Bytes, BytesSent   atomic.Int64
	// Had is the number of the bundle's files that the service already had.
	Had atomic.Int64
}

// Send makes a revision of a bundle: it declares it, sends the blobs that the workspace lacks and finalizes it. base is the expected live
// revision; the service checks it. Visitors see no change.
func (d *Deployer) Send(ctx context.Context, b Bundle, base toolapi.BaseRevision, p *Progress) (toolapi.Finalized, error) {
	args := toolapi.DeclareArgs{
		SiteID: toolapi.UUID(d.Site), BaseRevision: base, Manifest: b.Manifest, Files: make([]toolapi.UploadFile, len(b.Files)),
		Client: &toolapi.UploadClient{Name: "pages", Version: d.Version}, Scope: d.scope(),
	}
	s := &sender{d: d, files: b.Files, progress: p}
	for i, f := range b.Files {
		args.Files[i] = toolapi.UploadFile{
			Path: f.Path, SHA256: toolapi.Digest(f.SHA256), Size: toolapi.Counter(f.Size),
			ContentType: toolapi.MediaType(f.ContentType),
		}
	}
	up, err := d.Client.Declare(ctx, args)
	if err != nil {
		return toolapi.Finalized{}, conflictError(err)
	}
	for round := 0; ; round++ {
		var done toolapi.Finalized
		err := s.sendBlobs(ctx, up)
		if err == nil {
			done, err = d.Client.Finalize(ctx, up.UploadID)
		}
		switch code := codeOf(err); {
		case err == nil || round == maxRounds:
			return done, s.markResumable(conflictError(err))
		case code == toolapi.CodeBlobsMissing:
			up, err = d.Client.Upload(ctx, up.UploadID)
		case code == toolapi.CodeUploadExpired, code == toolapi.CodeUploadNotFound, code == toolapi.CodeUploadClosed:
			up, err = d.Client.Declare(ctx, args)
		default:
			return done, s.markResumable(conflictError(err))
		}
		if err != nil {
			return toolapi.Finalized{}, s.markResumable(conflictError(err))
		}
	}
}

// maxRounds bounds the restarts of an upload after the service lost it or some of its blobs.
const maxRounds = 3

// codeOf is the code of a refusal by status, "" for any other error.
func codeOf(err error) string {
	if refused, ok := errors.AsType[*client.StatusError](err); ok {
		return refused.Code
	}
	return ""
}

func conflictError(err error) error {
	if codeOf(err) == toolapi.CodeRevisionConflict {
		return &ConflictError{}
	}
	return err
}

// sender sends the blobs of one upload.
type sender struct {
	d        *Deployer
	files    []File // of the bundle
	progress *Progress
	counted  bool // progress has the blobs that the service had
	// stored is the time of the last stored blob, by the monotonic clock: setting the wall clock
	// must not change the retry time.
	stored atomic.Pointer[time.Time]
}

func (s *sender) markStored() {
	now := s.d.Now()
	s.stored.Store(&now)
}

func (s *sender) storedLast() time.Time { return *s.stored.Load() }

// markResumable wraps errors of uploads that may be resumed.
func (s *sender) markResumable(err error) error {
	lost := errors.As(err, new(*client.TransportError))
	if refused, ok := errors.AsType[*client.StatusError](err); ok {
		lost = refused.Temporary()
	}
	if !lost {
		return err
	}
	stored := s.progress.BlobsStored.Load()
	return &UnfinishedError{Stored: stored, Missing: s.progress.Blobs.Load() - stored, Err: err}
}

// sendBlobs sends the blobs that an upload requires, the largest first.
func (s *sender) sendBlobs(ctx context.Context, up toolapi.Upload) error {
	asked := make(map[string]bool, len(up.Required)) // false once a file is found
	for _, sum := range up.Required {
		if asked[sum] {
			return &client.ContractError{Status: http.StatusOK, Problem: "asks for a blob twice"}
		}
		asked[sum] = true
	}
	queue := make([]*File, 0, len(up.Required))
	var bytes, had int64
	for i := range s.files {
		f := &s.files[i]
		due, required := asked[f.SHA256]
		switch {
		case !required:
			had++
		case due:
			asked[f.SHA256] = false
			queue = append(queue, f)
			bytes += f.Size
		}
	}
	if len(queue) < len(up.Required) {
		return &client.ContractError{Status: http.StatusOK, Problem: "asks for a blob that was not declared"}
	}
	slices.SortFunc(queue, func(a, b *File) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path)) })
	p := s.progress
	p.Blobs.Store(p.BlobsStored.Load() + int64(len(queue)))
	p.Bytes.Store(p.BytesSent.Load() + bytes)
	if !s.counted { // blobs of a second request do not count as existing
		s.counted = true
		p.Had.Store(had)
	}
	s.markStored()
	return s.sendParallel(ctx, queue, up)
}

// sendParallel sends as many files at once as the service allows, and fewer after failures.
func (s *sender) sendParallel(ctx context.Context, queue []*File, up toolapi.Upload) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := min(max(up.Limits.MaxParallel, 1), toolapi.MaxParallel)
	g := &concurrencyLimit{limit: limit, now: s.d.Now}
	g.room = sync.NewCond(&g.mu)
	files := readAhead(ctx, queue, limit)
	var wg sync.WaitGroup
	for range min(limit, len(queue)) {
		wg.Go(func() {
			for f := range files {
				g.acquire()
				if ctx.Err() == nil {
					if err := s.sendBlob(ctx, up.UploadID, f, g); err != nil {
						stop(err)
					}
				}
				g.release()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// nextFile is the next file to send. A file that fits into memory is read and checked during other
// uploads: this machine is idle while the service writes to disk.
type nextFile struct {
	*File
	body io.ReadCloser // nil for a file that is opened later
	err  error         // of reading it
}

// readAhead reads files in order until ctx ends, up to a number ahead of their use.
func readAhead(ctx context.Context, queue []*File, most int) <-chan *nextFile {
	files := make(chan *nextFile, most)
	go func() {
		defer close(files)
		for _, f := range queue {
			n := &nextFile{File: f}
			if f.Size <= inMemory {
				n.body, n.err = f.openChecked()
			}
			select {
			case files <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	return files
}

// open opens the file to send it. A body that was read ahead serves the first attempt only.
func (n *nextFile) open(moved func(int)) (io.ReadCloser, error) {
	body, err := n.body, n.err
	n.body, n.err = nil, nil
	switch {
	case body != nil || err != nil:
		return body, err
	case n.Size <= inMemory:
		return n.openChecked()
	}
	return n.File.open(moved)
}

// sendBlob sends one blob. If the service computes another hash, the file is read again: either it
// has changed, or the transfer damaged the bytes, which are then sent again.
func (s *sender) sendBlob(ctx context.Context, upload string, f *nextFile, g *concurrencyLimit) error {
	var counted int64
	b := client.Blob{
		Upload: upload, SHA256: f.SHA256, Name: f.Path, Size: f.Size,
		Open: func() (io.ReadCloser, error) {
			s.progress.BytesSent.Add(-counted) // another try
			counted = 0
			return f.open(func(n int) { counted += int64(n); s.progress.BytesSent.Add(int64(n)) })
		},
		Since: s.storedLast, Retrying: g.halve,
	}
	err := s.d.Client.PutBlob(ctx, b)
	if code := codeOf(err); code == toolapi.CodeDigestMismatch || code == toolapi.CodeSizeMismatch {
		body, changed := f.File.open(func(int) {})
		if changed != nil {
			return changed
		}
		_, changed = io.Copy(io.Discard, body)
		if changed = errors.Join(changed, body.Close()); changed != nil {
			return changed
		}
		err = s.d.Client.PutBlob(ctx, b)
	}
	if changed, ok := errors.AsType[*ChangedError](err); ok {
		return changed
	}
	if err == nil {
		s.progress.BytesSent.Add(f.Size - counted)
		s.progress.BlobsStored.Add(1)
		s.markStored()
	}
	return err
}

// open opens the file and checks its bytes while they are read.
func (f *File) open(moved func(int)) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, &ChangedError{f.Path}
	}
	return &checked{ReadCloser: r, file: f, hash: sha256.New(), moved: moved}, nil
}

// inMemory is the size up to which a file is checked before its first byte is sent.
// A larger one is checked while it is sent.
const inMemory = 256 << 10

func (f *File) openChecked() (io.ReadCloser, error) {
	r, err := f.open(func(int) {})
	if err != nil {
		return nil, err
	}
	text := make([]byte, f.Size+1) // to notice one byte too many
	n, err := io.ReadFull(r, text)
	if err == nil {
		err = &ChangedError{f.Path}
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has the right size
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return client.MemoryBody{Reader: bytes.NewReader(text[:n])}, nil
}

// checked reads a file, and fails with a *ChangedError if it differs from its declaration.
type checked struct {
	io.ReadCloser
	file  *File
	hash  hash.Hash
	n     int64
	moved func(int)
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	_, _ = c.hash.Write(p[:n]) // never fails
	c.moved(n)
	ended := errors.Is(err, io.EOF)
	if c.n > c.file.Size || ended && (c.n < c.file.Size || hex.EncodeToString(c.hash.Sum(nil)) != c.file.SHA256) || err != nil && !ended {
		return n, &ChangedError{c.file.Path}
	}
	return n, err
}

// concurrencyLimit lets a number of goroutines in at a time.
type concurrencyLimit struct {
	mu     sync.Mutex
	room   *sync.Cond
	limit  int
	inside int
	now    func() time.Time
	halved time.Time
}

// halveAgain is the least time between two halvings: concurrent requests fail together.
const halveAgain = time.Second

func (g *concurrencyLimit) acquire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.inside >= g.limit {
		g.room.Wait()
	}
	g.inside++
}

func (g *concurrencyLimit) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.room.Broadcast()
}

func (g *concurrencyLimit) halve() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); now.Sub(g.halved) >= halveAgain {
		g.halved, g.limit = now, max(g.limit/2, 1)
	}
}
