package kv

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
)

func openKVFile(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newKV(t testing.TB, path string, clock func() time.Time) *Namespace {
	t.Helper()
	db := openKVFile(t, path)
	db.SetMaxOpenConns(1) // nothing asks for a second while it holds one
	kv, err := New(db, clock)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// listed is "key key … > cursor?" of each page.
func listed(t testing.TB, kv *Namespace, o ListOptions) string {
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
		if err := kv.Put(t.Context(), key, value, PutOptions{Metadata: []byte(`{"k":1}`)}); err != nil {
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
		if err := kv.Put(t.Context(), key, nil, PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		o    ListOptions
		want string
	}{
		{ListOptions{}, "Z a a/% a/10 a/2 a0 b é \uffff \U0001F600"},
		{ListOptions{Limit: 4}, "Z a a/% a/10 > a/2 a0 b é > \uffff \U0001F600"},
		{ListOptions{Prefix: "a/"}, "a/% a/10 a/2"},
		{ListOptions{Prefix: "a/", Limit: 1}, "a/% > a/10 > a/2"},
		{ListOptions{Prefix: "a/", Limit: 3}, "a/% a/10 a/2"},
		{ListOptions{Prefix: "a/%"}, "a/%"},
		{ListOptions{Prefix: "\xff"}, ""},
		{ListOptions{Prefix: "nope"}, ""},
		{ListOptions{Prefix: "b", Cursor: "WmE"}, "b"}, // a cursor before the prefix
		{ListOptions{Limit: -1}, "Z a a/% a/10 a/2 a0 b é \uffff \U0001F600"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v", tt.o), func(t *testing.T) {
			if got := listed(t, kv, tt.o); got != tt.want {
				t.Errorf("%+v\n got %s\nwant %s", tt.o, got, tt.want)
			}
		})
	}
}

func TestKVExpiry(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return now })
	put := func(key string, o PutOptions) error { return kv.Put(t.Context(), key, []byte("v"), o) }
	for key, o := range map[string]PutOptions{
		"ttl": {TTL: new(int64(60))}, "at": {Expiration: new(int64(1_000_100))},
		"both": {TTL: new(int64(60)), Expiration: new(int64(2_000_000))}, "never": {},
	} {
		if err := put(key, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{59 * time.Second, "at both never ttl"},
		{60 * time.Second, "at never"},
		{99 * time.Second, "at never"},
		{100 * time.Second, "never"},
	} {
		now = time.Unix(1_000_000, 0).Add(step.after)
		if got := listed(t, kv, ListOptions{}); got != step.want {
			t.Errorf("after %v: %s, want %s", step.after, got, step.want)
		}
		entry, err := kv.Get(t.Context(), "ttl")
		if (entry != nil) != strings.Contains(step.want, "ttl") || err != nil {
			t.Errorf("after %v: %+v, %v", step.after, entry, err)
		}
	}
	if err := put("ttl", PutOptions{}); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := kv.db.QueryRow("SELECT count(*) FROM kv").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows are kept, %v", n, err)
	}
}

func TestKVRefusals(t *testing.T) {
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), func() time.Time { return time.Unix(1000, 0) })
	put := func(key string, value []byte, o PutOptions) error { return kv.Put(t.Context(), key, value, o) }
	long := strings.Repeat("é", 257)
	_, getErr := kv.Get(t.Context(), long)
	_, _, limitErr := kv.List(t.Context(), ListOptions{Limit: 1001})
	_, _, cursorErr := kv.List(t.Context(), ListOptions{Cursor: "?"})
	tests := []struct {
		err  error
		want string
	}{
		{put("", nil, PutOptions{}), "Key name cannot be empty."},
		{put("..", nil, PutOptions{}), `".." is not allowed as a key name.`},
		{put(long, nil, PutOptions{}), "KV PUT failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."},
		{getErr, "KV GET failed: 414 UTF-8 encoded length of 514 exceeds key length limit of 512."},
		{kv.Delete(t.Context(), "."), `"." is not allowed as a key name.`},
		{put("k", make([]byte, 25<<20+1), PutOptions{}), "KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400."},
		{put("k", nil, PutOptions{Metadata: make([]byte, 1025)}), "KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024."},
		{
			put("k", nil, PutOptions{TTL: new(int64(59))}),
			"KV PUT failed: 400 Invalid expiration_ttl of 59. Expiration TTL must be at least 60.",
		},
		{
			put("k", nil, PutOptions{TTL: new(int64(-1))}),
			"KV PUT failed: 400 Invalid expiration_ttl of -1. Please specify integer greater than 0.",
		},
		{
			put("k", nil, PutOptions{TTL: new(int64(0))}),
			"KV PUT failed: 400 Invalid expiration_ttl of 0. Please specify integer greater than 0.",
		},
		{
			put("k", nil, PutOptions{Expiration: new(int64(1059))}),
			"KV PUT failed: 400 Invalid expiration of 1059. Expiration times must be at least 60 seconds in the future.",
		},
		{
			put("k", nil, PutOptions{Expiration: new(int64(999))}),
			"KV PUT failed: 400 Invalid expiration of 999. Please specify integer greater than the current number of " +
				"seconds since the UNIX epoch.",
		},
		{limitErr, "KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer less than 1000."},
		{cursorErr, "KV GET failed: 400 Invalid cursor."},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if tt.err == nil || tt.err.Error() != tt.want {
				t.Errorf("got %v, want %s", tt.err, tt.want)
			}
		})
	}
	if got := listed(t, kv, ListOptions{}); got != "" {
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
				if err := kv.Put(t.Context(), key, fmt.Appendf(nil, "%d.%d", i, j), PutOptions{}); err != nil {
					t.Error(err)
				}
				if entry, err := kv.Get(t.Context(), key); err != nil || entry == nil {
					t.Errorf("%+v, %v", entry, err)
				}
			}
		})
	}
	wg.Wait()
	if got := listed(t, kv, ListOptions{}); got != "k0 k1 k2 k3 k4" {
		t.Error(got)
	}
}

// pieces returns the number of pieces of values, and of the values.
func pieces(t testing.TB, kv *Namespace) (n, values int) {
	t.Helper()
	if err := kv.db.QueryRow("SELECT count(*), count(DISTINCT value) FROM kv_pieces").Scan(&n, &values); err != nil {
		t.Fatal(err)
	}
	return n, values
}

func TestKVPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	kv := newKV(t, path, nil)
	value := func(size int, seed byte) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = seed + byte(i*7) + byte(i>>12)
		}
		return b
	}
	for i, size := range []int{0, 1, maxInline, maxInline + 1, pieceBytes, pieceBytes + 1, 3*pieceBytes - 1, maxValue} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			key, want := fmt.Sprint("size ", size), value(size, byte(i))
			if err := kv.Put(t.Context(), key, want, PutOptions{}); err != nil {
				t.Fatal(err)
			}
			entry, err := newKV(t, path, nil).Get(t.Context(), key)
			if err != nil || entry == nil || !bytes.Equal(entry.Value, want) {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	for range 2 { // the second replaces the first
		if err := kv.Put(t.Context(), "changed", value(2*pieceBytes, 1), PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_, stream, err := kv.open(t.Context(), "changed")
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Put(t.Context(), "changed", []byte("small"), PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if entry, err := kv.Get(t.Context(), "changed"); err != nil || string(entry.Value) != "small" {
		t.Errorf("the new value: %v", err)
	}
	if all, err := io.ReadAll(stream); err != nil || !bytes.Equal(all, value(2*pieceBytes, 1)) {
		t.Errorf("a value that changed while it was read: %d bytes, %v", len(all), err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	if err := kv.Delete(t.Context(), fmt.Sprint("size ", maxValue)); err != nil {
		t.Fatal(err)
	}
	if n, values := pieces(t, kv); n != 1+1+2+3 || values != 4 {
		t.Errorf("%d pieces of %d values", n, values)
	}
}

// TestKVPiecesLeft: pieces that no key has are dropped, sooner or later.
func TestKVPiecesLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	kv := newKV(t, path, nil)
	begin := func() *incomingValue {
		v := &incomingValue{kv: kv}
		if full, err := v.add(make([]byte, 2*pieceBytes), nil); !full || err != nil {
			t.Fatal(full, err)
		}
		if err := v.store(t.Context()); err != nil {
			t.Fatal(err)
		}
		return v
	}
	left, refused, closed := begin(), begin(), begin()
	if err := refused.commit(t.Context(), "..", PutOptions{}); err == nil {
		t.Error("a key that is none is taken")
	}
	for _, v := range []*incomingValue{refused, closed} {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if err := v.commit(t.Context(), "closed", PutOptions{}); !errors.Is(err, hostcall.ErrGone) {
			t.Errorf("a commit after the end: %v", err)
		}
	}
	if n, values := pieces(t, kv); n != 2 || values != 1 {
		t.Errorf("%d pieces of %d values", n, values)
	}
	if n, _ := pieces(t, newKV(t, path, nil)); n != 0 {
		t.Errorf("a new process finds %d pieces", n)
	}
	if err := left.commit(t.Context(), "left", PutOptions{}); !errors.Is(err, errPiecesGone) {
		t.Errorf("a commit without pieces: %v", err)
	}
	if entry, err := kv.Get(t.Context(), "left"); entry != nil || err != nil {
		t.Errorf("it is there: %v", err)
	}
}

// TestKVBefore opens a store of a version that kept all values whole.
func TestKVBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	db := openKVFile(t, path)
	for _, statement := range []string{createTable, "INSERT INTO kv (key, value) VALUES (CAST('old' AS BLOB), zeroblob(3000000))"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		kv := newKV(t, path, nil)
		entry, err := kv.Get(t.Context(), "old")
		if err != nil || entry == nil || len(entry.Value) != 3_000_000 {
			t.Fatalf("%+v, %v", entry, err)
		}
		if err := kv.Put(t.Context(), "old", entry.Value, PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// streamedAtOnce is a number of concurrent values of the greatest size, which must use less than half of their bytes.
const (
	streamedAtOnce = 8
	streamedBound  = streamedAtOnce * maxValue / 2
)

// TestKVMemory streams large values in and out, all at once.
func TestKVMemory(t *testing.T) {
	kv := newKV(t, filepath.Join(t.TempDir(), "kv.db"), nil)
	chunk := make([]byte, 64<<10)
	var (
		mu      sync.Mutex
		highest int64
		group   sync.WaitGroup
	)
	before := residentMemory(t)
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		highest = max(highest, residentMemory(t))
	}
	at := func(key string, work func(key string) error) {
		group.Go(func() {
			if err := work(key); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	for i := range streamedAtOnce {
		at(fmt.Sprint("large ", i), func(key string) error {
			v := &incomingValue{kv: kv}
			for n := range maxValue / len(chunk) {
				full, err := v.add(chunk, nil)
				if full && err == nil {
					err = v.store(t.Context())
				}
				if err != nil {
					return err
				}
				if n%100 == 99 {
					look()
				}
			}
			return errors.Join(v.commit(t.Context(), key, PutOptions{}), v.Close())
		})
	}
	group.Wait()
	for i := range streamedAtOnce {
		at(fmt.Sprint("large ", i), func(key string) error {
			_, stream, err := kv.open(t.Context(), key)
			if err != nil {
				return err
			}
			size, buffer := 0, make([]byte, hostcall.ReadChunk)
			for n := 0; ; n++ {
				read, err := stream.Read(buffer)
				if size += read; errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return err
				}
				if n%25 == 24 {
					look()
				}
			}
			if size != maxValue {
				t.Errorf("%s has %d bytes", key, size)
			}
			return stream.Close()
		})
	}
	group.Wait()
	if grown := highest - before; grown > streamedBound {
		t.Errorf("%d MiB of values took %d MiB of memory", streamedAtOnce*maxValue>>20, grown>>20)
	} else {
		t.Logf("%d MiB of values took %d MiB of memory", streamedAtOnce*maxValue>>20, grown>>20)
	}
}

// residentMemory is the process's resident memory in bytes, without memory that Go has freed; 0 if the system does not report it.
func residentMemory(t testing.TB) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return pages * int64(os.Getpagesize())
}
