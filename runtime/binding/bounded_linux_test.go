package binding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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

// TestKVStreamsKeepNothingOpen has more streams than connections, whose values are replaced, deleted and expire.
func TestKVStreamsKeepNothingOpen(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return now })
	value := bytes.Repeat([]byte("0123456789abcdef"), 3*pieceBytes/16/2)
	put := func(key string, value []byte, ttl int64) {
		t.Helper()
		o := KVPutOptions{}
		if ttl > 0 {
			o.TTL = &ttl
		}
		if err := kv.Put(t.Context(), key, value, o); err != nil {
			t.Fatal(err)
		}
	}
	var streams []*kvStream
	keys := []string{"stays", "replaced", "deleted", "expired"}
	for _, key := range keys {
		put(key, value, map[string]int64{"expired": 60}[key])
		for range 10 {
			_, stream, err := kv.open(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, stream)
		}
	}
	put("replaced", value[:1], 0)
	if err := kv.Delete(t.Context(), "deleted"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	put("other", value, 0) // which forgets what has expired
	for i, stream := range streams {
		if read, err := io.ReadAll(stream); err != nil || !bytes.Equal(read, value) {
			t.Errorf("%s: %d bytes, %v", keys[i/10], len(read), err)
		}
		if err := errors.Join(stream.Close(), stream.Close()); err != nil {
			t.Error(err)
		}
	}
	if n, values := pieces(t, kv); values != 2 {
		t.Errorf("%d pieces of %d values are left, want those of two", n, values)
	}
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

// TestDatabaseDisconnects closes what nobody uses, and opens it again.
func TestDatabaseDisconnects(t *testing.T) {
	dir := t.TempDir()
	pool := openSQL(t, filepath.Join(dir, "site.db"))
	pool.SetMaxIdleConns(0)
	d := NewDatabase(pool, DatabaseOptions{})
	t.Cleanup(func() { _ = d.Close() })
	ask := func(sql string) {
		t.Helper()
		if _, err := d.query(t.Context(), query{SQL: sql}, shapeAll, ""); err != nil {
			t.Fatal(err)
		}
	}
	ask("CREATE TABLE t (a)")
	ask("INSERT INTO t VALUES (1)")
	var reads sync.WaitGroup
	for range 50 {
		reads.Go(func() {
			if _, err := d.query(t.Context(), query{SQL: "SELECT * FROM t"}, shapeAll, ""); err != nil {
				t.Error(err)
			}
		})
	}
	reads.Wait()
	if n := pool.Stats().OpenConnections; n < 2 || n > DatabaseConns {
		t.Errorf("%d connections, want a writer and at most %d readers", n, maxReaders)
	}
	d.disconnect()
	if n, files := pool.Stats().OpenConnections, openFiles(t, dir); n != 0 || files != 0 {
		t.Errorf("%d connections and %d files stay open", n, files)
	}
	ask("SELECT * FROM t")
	ask("INSERT INTO t VALUES (2)")
}
