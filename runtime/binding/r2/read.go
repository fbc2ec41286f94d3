package r2

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// ObjectReader reads the bytes of one object as they were when it was opened,
// whatever happens to the object meanwhile. It must be closed, which may be done
// from another goroutine.
type ObjectReader struct {
	storage *Bucket
	ctx     context.Context // of the Get; only its values are used

	mu       sync.Mutex
	segments []segment // those not read yet, the first being read
	skip     int64     // bytes of the first segment that are read, or before the span
	left     int64     // bytes of the span not read yet
	file     *os.File  // of the first segment, while it stays open
}

// open pins the segments the span touches.
func (s *Bucket) open(ctx context.Context, segments []segment, span Span) *ObjectReader {
	skip := span.Offset
	for len(segments) > 0 && skip >= segments[0].size {
		skip -= segments[0].size
		segments = segments[1:]
	}
	end, n := skip+span.Length, 0
	for n < len(segments) && end > 0 {
		end -= segments[n].size
		s.pins.Add(segments[n].sum)
		n++
	}
	return &ObjectReader{storage: s, ctx: ctx, segments: segments[:n], skip: skip, left: span.Length}
}

// Len is the number of bytes not read yet.
func (r *ObjectReader) Len() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// Read implements io.Reader.
func (r *ObjectReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.left == 0 || len(r.segments) == 0 {
			return 0, io.EOF
		}
		n, err := r.readFirst(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		r.skip += int64(n)
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return 0, internal("get", err)
		}
		if err := r.next(); err != nil {
			return 0, internal("get", err)
		}
		if len(r.segments) == 0 && r.left > 0 {
			return 0, internal("get", io.ErrUnexpectedEOF)
		}
	}
}

// readFirst reads from where the first segment is read to. Its file stays open where few do.
func (r *ObjectReader) readFirst(p []byte) (int, error) {
	f := r.storage.files
	f.reading <- struct{}{}
	defer func() { <-f.reading }()
	if r.file != nil {
		return r.file.ReadAt(p, r.skip)
	}
	file, err := r.storage.blobs.open(r.segments[0].sum)
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(p, r.skip)
	if f.tryKeepOpen() {
		r.file = file
		return n, err
	}
	return n, errors.Join(err, file.Close())
}

// next lets go of the first segment.
func (r *ObjectReader) next() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
		r.file = nil
		r.storage.files.release()
	}
	r.skip = 0
	r.storage.pins.Remove(r.segments[0].sum)
	r.segments = r.segments[1:]
	return err
}

// Close lets go of the object. Bytes that were only kept for this reader are
// removed.
func (r *ObjectReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for len(r.segments) > 0 {
		err = errors.Join(err, r.next())
	}
	r.storage.collect(r.ctx, r.storage.pins.TakeLoose())
	return err
}
