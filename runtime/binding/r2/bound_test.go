package r2

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestBucketBound: the files of a bucket take no more than they may, also those that grow at
// the same time, parts of uploads, and those of an earlier process; deleted objects and aborted uploads make room.
func TestBucketBound(t *testing.T) {
	dir := t.TempDir()
	s := openStorage(t, dir)
	s.MaxBytes = 1000
	full := func(s *Bucket, key string, n int) bool {
		_, err := s.Put(t.Context(), key, strings.NewReader(strings.Repeat(key, n)), PutOptions{})
		if err != nil &&
			err.Error() != "put: We encountered an internal error. Please try again. the bucket is full: it holds at "+
				"most 1000 bytes (10001)" {
			t.Error(err)
		}
		return err != nil
	}
	if full(s, "a", 600) || !full(s, "b", 401) || full(s, "b", 400) || !full(s, "c", 1) {
		t.Error("not what fits is taken")
	}
	if got, _ := read(t, s, "b", GetOptions{}); len(got) != 400 {
		t.Errorf("%d bytes", len(got))
	}
	if err := s.Delete(t.Context(), "b"); err != nil || full(s, "c", 1) {
		t.Errorf("a deleted object takes room: %v", err)
	}
	begun, err := s.Begin("d", PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Write(make([]byte, 300)); err != nil {
		t.Fatal(err)
	}
	if !full(s, "e", 100) {
		t.Error("what grows takes no room")
	}
	begun.Abort()
	var same sync.WaitGroup
	for range 4 { // equal bytes are one blob, and take its room once
		same.Go(func() { full(s, "f", 50) })
	}
	same.Wait()
	id, err := s.CreateMultipart(t.Context(), "g", PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.beginPart("g", id, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(make([]byte, 300)); err != nil {
		t.Fatal(err)
	}
	if _, err := part.commitPart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Bucket{s, openStorage(t, dir)} {
		s.MaxBytes = 1000
		files, err := os.ReadDir(filepath.Join(dir, blobFolder))
		if taken := s.taken.Load(); err != nil || taken != 951 || len(files) != 4 {
			t.Errorf("%d bytes are taken by %d files, %v", taken, len(files), err)
		}
		if !full(s, "h", 50) || full(s, "h", 49) {
			t.Error("not what fits is taken")
		}
		if err := s.Delete(t.Context(), "h"); err != nil {
			t.Error(err)
		}
	}
	if err := s.AbortMultipart(t.Context(), "g", id); err != nil || s.taken.Load() != 651 {
		t.Errorf("%d bytes are taken, %v", s.taken.Load(), err)
	}
}
