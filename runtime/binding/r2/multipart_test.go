package r2

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestStorageMultipart(t *testing.T) {
	s := openStorage(t, t.TempDir())
	s.minPart = 4
	ctx := t.Context()
	id, err := s.CreateMultipart(ctx, "k", PutOptions{HTTP: &HTTPMetadata{ContentType: "x/y"}})
	if err != nil {
		t.Fatal(err)
	}
	part := func(n int64, body string) UploadedPart {
		t.Helper()
		u, err := s.beginPart("k", id, n)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Abort()
		if _, err := io.WriteString(u, body); err != nil {
			t.Fatal(err)
		}
		p, err := u.commitPart(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, two, three := part(1, "abcd"), part(2, "efgh"), part(3, "ij")
	small, unused := part(9, "k"), part(10, "dropped")
	refusals := []struct {
		parts []UploadedPart
		want  string
	}{
		{nil, "completeMultipartUpload: One or more of the specified parts could not be found. (10025)"},
		{[]UploadedPart{one, {7, one.ETag}}, "completeMultipartUpload: One or more of the specified parts could not be found. (10025)"},
		{[]UploadedPart{one, one}, "completeMultipartUpload: We encountered an internal error. Please try again. (10001)"},
		{
			[]UploadedPart{three, one, two},
			"completeMultipartUpload: Your proposed upload is smaller than the minimum allowed object size. (10011)",
		},
		{
			[]UploadedPart{one, three, small},
			"completeMultipartUpload: Your proposed upload is smaller than the minimum allowed object size. (10011)",
		},
		{[]UploadedPart{one, unused}, "completeMultipartUpload: There was a problem with the multipart upload. (10048)"},
	}
	for _, c := range refusals {
		t.Run(c.want, func(t *testing.T) {
			_, err := s.CompleteMultipart(ctx, "k", id, c.parts)
			wantStorage(t, err, c.want)
		})
	}
	if _, ok := read(t, s, "k", GetOptions{}); ok {
		t.Error("an open upload is an object")
	}
	o, err := s.CompleteMultipart(ctx, "k", id, []UploadedPart{two, one, three})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(o.ETag, "-3") || o.Size != 10 || o.HTTP.ContentType != "x/y" {
		t.Errorf("object = %+v", o)
	}
	from, length := int64(3), int64(6)
	for want, r := range map[string]*Range{"abcdefghij": nil, "defghi": {Offset: &from, Length: &length}, "hij": {Suffix: &from}} {
		if got, _ := read(t, s, "k", GetOptions{Range: r}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if n := len(blobNames(t, s, blobFolder)); n != 3 {
		t.Errorf("%d blobs, want the object's 3", n)
	}
	if err := s.AbortMultipart(ctx, "k", id); err != nil {
		t.Errorf("abort of a completed upload: %v", err)
	}
	wantStorage(t, s.AbortMultipart(ctx, "k", "none"), "abortMultipartUpload: The specified multipart upload does not exist. (10024)")
	_, err = s.CompleteMultipart(ctx, "k", id, []UploadedPart{one})
	wantStorage(t, err, "completeMultipartUpload: The specified multipart upload does not exist. (10024)")
	if err := s.Delete(ctx, "k"); err != nil || len(blobNames(t, s, blobFolder)) != 0 {
		t.Errorf("delete: %v, blobs %v", err, blobNames(t, s, blobFolder))
	}
}

// errBroken ends a body early.
var errBroken = errors.New("the client went away")

func TestStoragePartialPutLeavesNothing(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "old", "kept", PutOptions{})
	body := io.MultiReader(strings.NewReader("half"), &failing{})
	for _, key := range []string{"old", "new"} {
		if _, err := s.Put(t.Context(), key, body, PutOptions{}); !errors.Is(err, errBroken) {
			t.Errorf("error = %v", err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(cancelled, "new", strings.NewReader("whole"), PutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if got, _ := read(t, s, "old", GetOptions{}); got != "kept" {
		t.Errorf("old = %q", got)
	}
	if _, ok := read(t, s, "new", GetOptions{}); ok {
		t.Error("a partial put made an object")
	}
	if in, stored := blobNames(t, s, incomingFolder), blobNames(t, s, blobFolder); len(in) != 0 || len(stored) != 1 {
		t.Errorf("incoming %v, blobs %v", in, stored)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errBroken }
