package service

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

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
