package kv

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"
)

// TestKVStreamsKeepNothingOpen has more streams than connections, whose values are replaced, deleted and expire.
func TestKVStreamsKeepNothingOpen(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return now })
	value := bytes.Repeat([]byte("0123456789abcdef"), 3*pieceBytes/16/2)
	put := func(key string, value []byte, ttl int64) {
		t.Helper()
		o := PutOptions{}
		if ttl > 0 {
			o.TTL = &ttl
		}
		if err := kv.Put(t.Context(), key, value, o); err != nil {
			t.Fatal(err)
		}
	}
	var streams []*valueReader
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
	put("other", value, 0) // which removes expired keys
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
