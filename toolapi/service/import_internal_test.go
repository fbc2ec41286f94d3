package service

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// TestManifestsOfImport holds no more of an archive in memory than two manifests, however
// many files are called so.
func TestManifestsOfImport(t *testing.T) {
	store, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &imported{space: store.Space(1)}
	defer in.release()
	contents := make([]byte, toolapi.MaxFileBytes)
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range toolapi.MaxExpanded / toolapi.MaxFileBytes {
		if err := in.take(fmt.Sprintf("%d/pages.deploy.json", i), contents); err != nil {
			t.Fatal(err)
		}
	}
	if grown := held() - before; grown > 2*toolapi.MaxFileBytes {
		t.Errorf("%d MB are held", grown>>20)
	}
	if _, err := in.bundle(); err == nil {
		t.Error("it became a bundle")
	}
	runtime.KeepAlive(contents)
}

// TestImportsAtOnce: an archive waits while the allowed number of archives is read, and is not read once its sender has left.
func TestImportsAtOnce(t *testing.T) {
	s, demo := seeded(t)
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	f, err := z.Create("pages.deploy.json")
	if err == nil {
		_, err = f.Write([]byte("{}"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	send := func(ctx context.Context) int {
		r := httptest.NewRequestWithContext(
			ctx, http.MethodPost, "http://localhost"+toolapi.ImportsPath+"?site_id="+demo.IDs["site_id"],
			bytes.NewReader(text.Bytes()),
		)
		r.Header = http.Header{"Authorization": {"Bearer " + demo.Keys["member"]}, "Content-Type": {"application/zip"}}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for range maxUnpacked {
		s.unpacking <- struct{}{}
	}
	gone, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if status := send(gone); status < http.StatusBadRequest {
		t.Errorf("it was read beside %d others: %d", maxUnpacked, status)
	}
	<-s.unpacking
	for range 2 { // it gave its place back
		if status := send(t.Context()); status >= http.StatusBadRequest {
			t.Errorf("with a place that is free: %d", status)
		}
	}
}
