package r2

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// openFiles counts the files below a folder that the process has open.
func openFiles(t *testing.T, below string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(target, below+"/") {
			n++
		}
	}
	return n
}

// TestStorageFilesAreBounded reads and writes many objects at once.
func TestStorageFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := openStorage(t, dir)
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10/16)
	var readers []*ObjectReader
	const many = 200
	for i := range many {
		key := fmt.Sprintf("k%d", i)
		if _, err := s.Put(t.Context(), key, bytes.NewReader(slices.Concat(content, []byte(key))), PutOptions{}); err != nil {
			t.Fatal(err)
		}
		_, reader, err := s.Get(t.Context(), key, GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, reader)
	}
	first := make([]byte, 1)
	for _, reader := range readers {
		if _, err := io.ReadFull(reader, first); err != nil {
			t.Fatal(err)
		}
	}
	if n, most := openFiles(t, dir), maxKept+6; n > most { // and the database, the folders
		t.Errorf("%d bodies keep %d files open, want %d at most", many, n, most)
	}
	var all sync.WaitGroup
	for i, reader := range readers {
		all.Go(func() {
			rest, err := io.ReadAll(reader)
			if want := slices.Concat(content[1:], fmt.Appendf(nil, "k%d", i)); err != nil || !bytes.Equal(rest, want) {
				t.Errorf("object %d: %d bytes, %v", i, len(rest), err)
			}
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := openFiles(t, filepath.Join(dir, blobFolder)); n != 0 {
		t.Errorf("%d files stay open", n)
	}
	if kept := s.files.kept.Load(); kept != 0 {
		t.Errorf("%d places are not given back", kept)
	}
}
