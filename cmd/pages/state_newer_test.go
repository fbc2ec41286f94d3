package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestStateOfANewerVersion: pages does not touch the state of a newer version, and tells its owner the fix. It used to advise to move it
// away.
func TestStateOfANewerVersion(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
	name := filepath.Join(dir, ".pages", "state", statefolder.PlatformFile)
	put(t, filepath.Join(dir, ".pages", "state", ".gitignore"), "*\n")
	db, err := localstate.OpenDatabase(t.Context(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.OpenStore(t.Context(), db, site.StoreOptions{Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE site_meta SET value = 1000 WHERE key = 'schema'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"dev --port 0", "leads list", "events list", "logs"} {
		t.Run(command, func(t *testing.T) {
			_, stderr, code := pages(t, append([]string{"-C", dir}, strings.Fields(command)...)...)
			if code != failure.ExitResource || !strings.Contains(stderr, "is from another version of pages") ||
				!strings.Contains(stderr, "--state-dir") || strings.Contains(stderr, "move it away") {
				t.Errorf("pages %s ends with %d: %s", command, code, stderr)
			}
		})
	}
	stdout, _, code := pages(t, "-C", dir, "doctor")
	if code != failure.ExitRefused || !strings.Contains(stdout, "is from another version of pages") ||
		!strings.Contains(stdout, "--state-dir") {
		t.Errorf("pages doctor ends with %d: %s", code, stdout)
	}
}
