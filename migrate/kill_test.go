package migrate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate"
)

// killFiles make two tables each, far apart, so that a kill falls between.
func killFiles(n int) []migrate.File {
	var files []migrate.File
	for i := range n {
		fill := strings.Repeat(fmt.Sprintf("INSERT INTO a%d VALUES (randomblob(100));\n", i), 1500)
		files = append(files, list(fmt.Sprintf("%04d.sql", i), fmt.Sprintf("CREATE TABLE a%d(x);\n%sCREATE TABLE b%d(x);", i, fill, i))...)
	}
	return files
}

// TestKill kills a process that migrates, at random moments: each file is
// there whole with its ledger row, or not at all.
func TestKill(t *testing.T) {
	rounds, files := 10, killFiles(60)
	if testing.Short() {
		rounds, files = 3, killFiles(6)
	}
	if path := os.Getenv("PAGES_TEST_KILL"); path != "" {
		apply(t, openPath(t, path), files)
		return
	}
	path := filepath.Join(t.TempDir(), "site.db")
	apply(t, openPath(t, path), nil)
	killed := 0
	for range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond+time.Duration(rand.Int64N(int64(150*time.Millisecond))))
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKill$", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(os.Environ(), "PAGES_TEST_KILL="+path)
		if cmd.Run() != nil {
			killed++
		}
		cancel()
		db := openPath(t, path)
		rows := len(strings.Fields(ledger(t, db)))
		var tables int
		var check string
		if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name GLOB '[ab][0-9]*'").Scan(&tables); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
			t.Fatalf("integrity_check: %s, %v", check, err)
		}
		if tables != 2*rows {
			t.Fatalf("%d ledger rows and %d tables", rows, tables)
		}
		db.Close()
	}
	if killed == 0 && !testing.Short() {
		t.Error("no run was killed: the work is too short")
	}
	db := openPath(t, path)
	apply(t, db, files)
	if got := len(strings.Fields(ledger(t, db))); got != len(files) {
		t.Errorf("%d files are applied in the end, want %d", got, len(files))
	}
}
