package service

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// TestRemember reads again after every commit, of this process or another, and only then.
func TestRemember(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "service.db")
	open := func() *database {
		t.Helper()
		d, err := openDatabase(ctx, path, t.TempDir(), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	d, other := open(), open()
	look := func() int64 {
		t.Helper()
		version, err := d.cache.currentVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	reads := 0
	value := func(key string) string {
		t.Helper()
		got, err := readCached(d.cache, look(), key, func() (v sql.NullString, err error) {
			reads++
			err = d.read(ctx, func(x tx) error {
				_, err := x.queryOne("SELECT value FROM settings WHERE name = ?", []any{key}, &v)
				return err
			})
			return v, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got.String
	}
	set := func(by *database, value string) {
		t.Helper()
		err := by.write(ctx, func(x tx) error {
			return x.exec("INSERT OR REPLACE INTO settings (name, value) VALUES ('a', ?)", value)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		by      *database
		written string
		reads   int
	}{{d, "one", 1}, {nil, "one", 1}, {d, "two", 2}, {other, "three", 3}, {nil, "three", 3}, {other, "four", 4}} {
		if step.by != nil {
			set(step.by, step.written)
		}
		if got := value("a"); got != step.written || reads != step.reads {
			t.Errorf("step %d: %q after %d reads, want %q after %d", i, got, reads, step.written, step.reads)
		}
	}
	if err := errors.Join(
		other.write(ctx, func(x tx) error { return x.exec("UPDATE settings SET value = 'none'") }), d.cache.discard(),
	); err != nil {
		t.Fatal(err)
	}
	if got := value("a"); got != "none" {
		t.Errorf("over another connection: %q", got)
	}
	failed := errors.New("it cannot be read")
	for range 2 {
		if _, err := readCached(d.cache, look(), "b", func() (int, error) { return 0, failed }); !errors.Is(err, failed) {
			t.Error(err)
		}
	}
	if _, err := readCached(d.cache, look(), "b", func() (int, error) { return 1, nil }); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
	for i := range 3 * maxCached {
		_, err := readCached(d.cache, look(), string(rune(i)), func() (int, error) { return i, nil })
		if err != nil || len(d.cache.known) > maxCached {
			t.Fatalf("%d things are known, %v", len(d.cache.known), err)
		}
	}
}
