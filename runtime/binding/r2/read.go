package r2

import (
	"context"
	"errors"
	"io"
	"net/textproto"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// ObjectReader reads the bytes of one object as they were when it was opened, also after the object is replaced or deleted.
// It must be closed, which may be done from another goroutine.
type ObjectReader struct {
	storage *Bucket
	ctx     context.Context // of the Get; only its values are used

	mu       sync.Mutex
	segments []segment // those not read yet, the first being read
	skip     int64     // bytes of the first segment that are read, or before the span
	left     int64     // bytes of the span not read yet
	file     *os.File  // of the first segment, while it stays open
}

// open pins the segments that the span touches.
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

// readFirst reads on in the first segment. Its file stays open if fewer than maxKept do.
func (r *ObjectReader) readFirst(p []byte) (int, error) {
	f := r.storage.files
	f.reading <- struct{}{}
	defer func() { <-f.reading }()
	if r.file != nil {
		return r.file.ReadAt(p, r.skip)
	}
	file, err := r.storage.blobs.root.Open(path.Join(blobFolder, r.segments[0].sum))
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(p, r.skip)
	if f.kept.Add(1) <= maxKept {
		r.file = file
		return n, err
	}
	f.kept.Add(-1)
	return n, errors.Join(err, file.Close())
}

func (r *ObjectReader) next() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
		r.file = nil
		r.storage.files.kept.Add(-1)
	}
	r.skip = 0
	r.storage.pins.Remove(r.segments[0].sum)
	r.segments = r.segments[1:]
	return err
}

// Close unpins the object, and removes bytes that were only kept for this reader.
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

// Span is a run of an object's bytes.
type Span struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Range is the part of an object a get asks for: from Offset for Length bytes,
// or the last Suffix bytes, or the range of a Range header. Nil is all of it.
type Range struct {
	Offset *int64 `json:"offset"`
	Length *int64 `json:"length"`
	Suffix *int64 `json:"suffix"`
	Header string `json:"header"`
}

// resolve is the span meant in an object of size bytes. A header that cannot be satisfied means all of it.
func (r *Range) resolve(size int64) (Span, *Error) {
	all := Span{Length: size}
	if r == nil {
		return all, nil
	}
	if r.Header != "" {
		one, ok := parseRange(r.Header)
		if !ok {
			return all, nil
		}
		if span, err := one.resolve(size); err == nil {
			return span, nil
		}
		return all, nil
	}
	switch {
	case r.Suffix != nil:
		length := min(*r.Suffix, size)
		if length <= 0 {
			return Span{}, refuse(codeInvalidRange)
		}
		return Span{size - length, length}, nil
	case r.Offset == nil && r.Length == nil:
		return all, nil
	}
	var span Span
	if r.Offset != nil {
		span.Offset = *r.Offset
	}
	if span.Offset < 0 || span.Offset >= size {
		return Span{}, refuse(codeInvalidRange)
	}
	span.Length = size - span.Offset
	if r.Length != nil {
		span.Length = min(span.Length, *r.Length)
	}
	if span.Length <= 0 {
		return Span{}, refuse(codeInvalidRange)
	}
	return span, nil
}

// parseRange reads a Range header of one range. It ignores a malformed header, another unit, and
// several ranges (RFC 9110, section 14.2).
func parseRange(header string) (Range, bool) {
	unit, spec, ok := strings.Cut(header, "=")
	if !ok || !strings.EqualFold(textproto.TrimString(unit), "bytes") {
		return Range{}, false
	}
	from, to, ok := strings.Cut(textproto.TrimString(spec), "-")
	if !ok || strings.Contains(spec, ",") {
		return Range{}, false
	}
	first, firstErr := strconv.ParseUint(from, 10, 62)
	last, lastErr := strconv.ParseUint(to, 10, 62)
	offset, end := int64(first), int64(last)
	switch {
	case from == "" && lastErr == nil:
		return Range{Suffix: &end}, true
	case firstErr != nil || to != "" && lastErr != nil || to != "" && end < offset:
		return Range{}, false
	case to == "":
		return Range{Offset: &offset}, true
	}
	length := end - offset + 1
	return Range{Offset: &offset, Length: &length}, true
}
