package binding

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func newKV(t testing.TB, path string, clock func() time.Time) *KV {
	t.Helper()
	kv, err := NewKV(openSQL(t, path), clock)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// listed is "key key … > cursor?" of each page.
func listed(t testing.TB, kv *KV, o KVListOptions) string {
	t.Helper()
	var out []string
	for {
		entries, cursor, err := kv.List(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, e.Key)
		}
		if cursor == "" {
			return strings.Join(out, " ")
		}
		out = append(out, ">")
		o.Cursor = cursor
	}
}

func TestKVDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	kv := newKV(t, path, nil)
	value := []byte("a\x00b\xff")
	for _, key := range []string{"../x", "a\x00b", "ключ", strings.Repeat("k", 512), "quote'\";--"} {
		if err := kv.Put(t.Context(), key, value, KVPutOptions{Metadata: []byte(`{"k":1}`)}); err != nil {
			t.Fatal(err)
		}
		entry, err := newKV(t, path, nil).Get(t.Context(), key)
		if err != nil || entry == nil || string(entry.Value) != string(value) || string(entry.Metadata) != `{"k":1}` {
			t.Errorf("%q: %+v, %v", key, entry, err)
		}
	}
	if err := kv.Delete(t.Context(), "../x"); err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), "../x"); err != nil {
		t.Errorf("a second delete: %v", err)
	}
	if entry, err := kv.Get(t.Context(), "../x"); entry != nil || err != nil {
		t.Errorf("%+v, %v", entry, err)
	}
}

func TestKVList(t *testing.T) {
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), nil)
	for _, key := range []string{"b", "a/2", "a/10", "a", "é", "Z", "a0", "\U0001F600", "\uffff", "a/%"} {
		if err := kv.Put(t.Context(), key, nil, KVPutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		o    KVListOptions
		want string
	}{
		{KVListOptions{}, "Z a a/% a/10 a/2 a0 b é \uffff \U0001F600"},
		{KVListOptions{Limit: 4}, "Z a a/% a/10 > a/2 a0 b é > \uffff \U0001F600"},
		{KVListOptions{Prefix: "a/"}, "a/% a/10 a/2"},
		{KVListOptions{Prefix: "a/", Limit: 1}, "a/% > a/10 > a/2"},
		{KVListOptions{Prefix: "a/", Limit: 3}, "a/% a/10 a/2"},
		{KVListOptions{Prefix: "a/%"}, "a/%"},
		{KVListOptions{Prefix: "\xff"}, ""},
		{KVListOptions{Prefix: "nope"}, ""},
		{KVListOptions{Prefix: "b", Cursor: "WmE"}, "b"}, // a cursor before the prefix
		{KVListOptions{Limit: -1}, "Z a a/% a/10 a/2 a0 b é \uffff \U0001F600"},
	}
	for _, tt := range tests {
		if got := listed(t, kv, tt.o); got != tt.want {
			t.Errorf("%+v\n got %s\nwant %s", tt.o, got, tt.want)
		}
	}
}

func TestKVExpiry(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return now })
	put := func(key string, o KVPutOptions) error { return kv.Put(t.Context(), key, []byte("v"), o) }
	for key, o := range map[string]KVPutOptions{"ttl": {TTL: new(int64(60))}, "at": {Expiration: new(int64(1_000_100))}, "both": {TTL: new(int64(60)), Expiration: new(int64(2_000_000))}, "never": {}} {
		if err := put(key, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{59 * time.Second, "at both never ttl"}, {60 * time.Second, "at never"}, {99 * time.Second, "at never"}, {100 * time.Second, "never"}} {
		now = time.Unix(1_000_000, 0).Add(step.after)
		if got := listed(t, kv, KVListOptions{}); got != step.want {
			t.Errorf("after %v: %s, want %s", step.after, got, step.want)
		}
		entry, err := kv.Get(t.Context(), "ttl")
		if (entry != nil) != strings.Contains(step.want, "ttl") || err != nil {
			t.Errorf("after %v: %+v, %v", step.after, entry, err)
		}
	}
	if err := put("ttl", KVPutOptions{}); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := kv.db.QueryRow("SELECT count(*) FROM kv").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows are kept, %v", n, err)
	}
}

func TestKVRefusals(t *testing.T) {
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return time.Unix(1000, 0) })
	put := func(key string, value []byte, o KVPutOptions) error { return kv.Put(t.Context(), key, value, o) }
	long := strings.Repeat("é", 257)
	_, getErr := kv.Get(t.Context(), long)
	_, _, limitErr := kv.List(t.Context(), KVListOptions{Limit: 1001})
	_, _, cursorErr := kv.List(t.Context(), KVListOptions{Cursor: "?"})
	tests := []struct {
		err  error
		want string
	}{
		{put("", nil, KVPutOptions{}), "Key name cannot be empty."},
		{put("..", nil, KVPutOptions{}), `".." is not allowed as a key name.`},
		{put(long, nil, KVPutOptions{}), "KV PUT failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."},
		{getErr, "KV GET failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."},
		{kv.Delete(t.Context(), "."), `"." is not allowed as a key name.`},
		{put("k", make([]byte, 25<<20+1), KVPutOptions{}), "KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400."},
		{put("k", nil, KVPutOptions{Metadata: make([]byte, 1025)}), "KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024."},
		{put("k", nil, KVPutOptions{TTL: new(int64(59))}), "KV PUT failed: 400 Invalid expiration_ttl of 59. Expiration TTL must be at least 60."},
		{put("k", nil, KVPutOptions{TTL: new(int64(-1))}), "KV PUT failed: 400 Invalid expiration_ttl of -1. Please specify integer greater than 0."},
		{put("k", nil, KVPutOptions{TTL: new(int64(0))}), "KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0."},
		{put("k", nil, KVPutOptions{Expiration: new(int64(1059))}), "KV PUT failed: 400 Invalid expiration of 1059. Expiration times must be at least 60 seconds in the future."},
		{put("k", nil, KVPutOptions{Expiration: new(int64(999))}), "KV PUT failed: 400 Invalid expiration of 999. Please specify integer greater than the current number of seconds since the UNIX epoch."},
		{limitErr, "KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000."},
		{cursorErr, "KV GET failed: 400 Invalid cursor."},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
	if got := listed(t, kv, KVListOptions{}); got != "" {
		t.Errorf("a refused put left %s", got)
	}
}

func TestKVConcurrent(t *testing.T) {
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				key := fmt.Sprintf("k%d", (i+j)%5)
				if err := kv.Put(t.Context(), key, fmt.Appendf(nil, "%d.%d", i, j), KVPutOptions{}); err != nil {
					t.Error(err)
				}
				if entry, err := kv.Get(t.Context(), key); err != nil || entry == nil {
					t.Errorf("%+v, %v", entry, err)
				}
			}
		})
	}
	wg.Wait()
	if got := listed(t, kv, KVListOptions{}); got != "k0 k1 k2 k3 k4" {
		t.Error(got)
	}
}
