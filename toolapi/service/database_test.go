package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestDatabaseFile checks the settings of a new database: SQLite takes some of them only before the first write, and later ignores them.
func TestDatabaseFile(t *testing.T) {
	w := newFixture(t)
	for pragma, want := range map[string]string{"page_size": "8192", "journal_mode": "wal"} {
		if got := w.value("PRAGMA " + pragma); got != want {
			t.Errorf("%s is %s, not %s", pragma, got, want)
		}
	}
}

// TestDamagedDatabase: a truncated or overwritten database is an error each time, and an empty file does not
// become a new service, which would remove all uploads.
func TestDamagedDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		contents string
		blob     bool
		damaged  bool
	}{
		"new":                   {"", false, false},
		"emptied":               {"", true, true},
		"cut":                   {"SQLite format 3\x00", true, true},
		"overwritten":           {strings.Repeat("no database ", 100), false, true},
		"cut, nothing uploaded": {"SQLite format 3\x00", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, blob := filepath.Join(dir, "service.db"), filepath.Join(dir, "blobs", "1", "ab", strings.Repeat("c", 62))
			half := filepath.Join(dir, "blobs", "tmp", "incoming-1") // which is nothing yet
			err := errors.Join(
				os.WriteFile(path, []byte(c.contents), 0o600), os.MkdirAll(filepath.Dir(half), 0o700),
				os.WriteFile(half, []byte("x"), 0o600),
			)
			if c.blob {
				err = errors.Join(err, os.MkdirAll(filepath.Dir(blob), 0o700), os.WriteFile(blob, []byte("x"), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s, err := service.Open(t.Context(), path, service.Options{})
				if _, damaged := errors.AsType[*service.DamagedError](err); damaged != c.damaged || !damaged && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err == nil {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}
