package r2

import (
	"context"
	"io"
	"net/http"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
)

// This file serves calls from outside of an isolate, besides the methods of a Bucket: their place in the order of calls,
// and puts with the bounds of a Worker's.

// Reads takes the next place of a call that reads objects.
func (s *Bucket) Reads(keys ...string) *hostcall.Turn { return s.order.Read(keys...) }

// Writes takes the next place of a call that changes objects.
func (s *Bucket) Writes(keys ...string) *hostcall.Turn { return s.order.Write(keys...) }

// Lists takes the next place of a list of the objects with a prefix.
func (s *Bucket) Lists(prefix string) *hostcall.Turn { return s.order.List(prefix) }

// Puts takes the next place of a put. A part has a number, and no place.
func (s *Bucket) Puts(key string, to Target) *hostcall.Turn {
	if to.Part != nil {
		return s.Writes()
	}
	return s.Writes(key)
}

// Target is the destination of a put: a part of an upload, or a whole object with its options.
type Target struct {
	PutOptions

	Part *Part `json:"part"`
}

// Part names a part of a multipart upload.
type Part struct {
	Upload string `json:"upload"`
	Number int64  `json:"number"`
}

// Stored is the result of a put: an object, nil when a condition did not hold, or a part.
type Stored struct {
	Object *Object
	Part   *UploadedPart
}

func (t *Target) begin(s *Bucket, key string) (*Upload, error) {
	if t.Part != nil {
		return s.beginPart(key, t.Part.Upload, t.Part.Number)
	}
	return s.Begin(key, t.PutOptions)
}

// upload begins an upload, which do fills and finishes.
func (t *Target) upload(s *Bucket, key string, do func(u *Upload) (Stored, error)) (Stored, error) {
	u, err := t.begin(s, key)
	if err != nil {
		return Stored{}, err
	}
	defer u.Abort()
	return do(u)
}

// place takes the place of the commit.
func (u *Upload) place() *hostcall.Turn {
	if u.part != nil {
		return u.storage.Writes()
	}
	return u.storage.Writes(u.key)
}

func (u *Upload) finish(ctx context.Context) (stored Stored, err error) {
	if u.part == nil {
		stored.Object, err = u.Commit(ctx)
		return stored, err
	}
	part, err := u.commitPart(ctx)
	if err == nil {
		stored.Part = &part
	}
	return stored, err
}

// PutBytes puts content.
func (s *Bucket) PutBytes(ctx context.Context, key string, content []byte, to Target) (Stored, error) {
	release, err := s.files.acquirePut(ctx)
	if err != nil {
		return Stored{}, err
	}
	defer release()
	return to.upload(s, key, func(u *Upload) (Stored, error) {
		if _, err := u.Write(content); err != nil {
			return Stored{}, err
		}
		return u.finish(ctx)
	})
}

// PutStream puts the bytes of body as they arrive. The call takes its place in the order of calls after the last byte, like the
// put of a stream in a Worker. It returns an error of body unchanged.
func (s *Bucket) PutStream(ctx context.Context, key string, body io.Reader, to Target) (Stored, error) {
	release, err := s.files.acquireStream()
	if err != nil {
		return Stored{}, err
	}
	defer release()
	return to.upload(s, key, func(u *Upload) (Stored, error) {
		if _, err := io.CopyBuffer(u, body, make([]byte, 64<<10)); err != nil {
			return Stored{}, err
		}
		return hostcall.Run(ctx, u.place(), func(ctx context.Context, _ *hostcall.Turn) (Stored, error) { return u.finish(ctx) })
	})
}

// Status is the HTTP status of a refusal in R2's own service.
func (e *Error) Status() int {
	switch e.Code {
	case codeInternal, codeBadUpload:
		return http.StatusInternalServerError
	case codeInvalidRange:
		return http.StatusRequestedRangeNotSatisfiable
	}
	return http.StatusBadRequest
}
