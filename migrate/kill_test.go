package migrate_test

import (
	"context"
	"database/sql"
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

// pairFiles make two tables each, far apart, so that a fault falls between.
func pairFiles(n, rows int) []migrate.File {
	var files []migrate.File
	for i := range n {
		fill := strings.Repeat(fmt.Sprintf("INSERT INTO a%d VALUES (randomblob(100));\n", i), rows)
		files = append(files, list(fmt.Sprintf("%04d.sql", i), fmt.Sprintf("CREATE TABLE a%d(x);\n%sCREATE TABLE b%d(x);", i, fill, i))...)
	}
	return files
}

// checkPairs reports whether a database is whole and holds all of a file exactly when the ledger does, and how many.
func checkPairs(t testing.TB, path string) int {
	t.Helper()
	db := openPath(t, path)
	defer db.Close()
	if got := one(t, db, "PRAGMA integrity_check"); got != "ok" {
		t.Fatalf("integrity_check: %s", got)
	}
	rows := len(strings.Fields(ledger(t, db)))
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name GLOB '[ab][0-9]*'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 2*rows {
		t.Fatalf("%d ledger rows and %d tables", rows, tables)
	}
	return rows
}

// TestKill kills a migrating process at random moments. Each file is applied as a whole with its ledger row, or not at all, and the final
// schema is that of an undisturbed run.
func TestKill(t *testing.T) {
	kills := 25
	if os.Getenv("PAGES_SOAK") != "" {
		kills = 500
	}
	if testing.Short() {
		kills = 3
	}
	files := pairFiles(8, 300)
	if path := os.Getenv("PAGES_TEST_KILL"); path != "" {
		o := options
		o.UndoDir = path + "-undo"
		if _, err := migrator(openPath(t, path), files, o).Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	clean := filepath.Join(t.TempDir(), "clean.db")
	apply(t, openPath(t, clean), files)
	want := dump(t, openPath(t, clean))
	path := filepath.Join(t.TempDir(), "site.db")
	for killed, runs := 0, 0; killed < kills; runs++ {
		if runs > 20*kills {
			t.Fatal("the runs end before they can be killed")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond+time.Duration(rand.Int64N(int64(150*time.Millisecond))))
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "PAGES_TEST_KILL="+path)
		err := cmd.Run()
		cancel()
		if err != nil {
			killed++
		}
		if checkPairs(t, path) < len(files) {
			continue
		}
		if got := dump(t, openPath(t, path)); got != want {
			t.Fatalf("schema %s, want %s", got, want)
		}
		path = filepath.Join(t.TempDir(), "site.db")
	}
	apply(t, openPath(t, path), files)
	if got := dump(t, openPath(t, path)); got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
}

// TestDiskCopy: at any moment of a run the disk has a whole database.
func TestDiskCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	// Without checkpoints the log only grows, so that copying it is the same as stopping there.
	db, err := sql.Open("sqlite", dsn(path)+"&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	apply(t, db, nil)
	execute(t, db, "CREATE TABLE keep(x)")
	done := make(chan error, 1)
	files := pairFiles(25, 100)
	go func() {
		_, err := migrator(db, files, options).Apply(t.Context())
		done <- err
	}()
	var copies []string
	for running := true; running; {
		select {
		case err := <-done:
			if running = false; err != nil {
				t.Fatal(err)
			}
		default:
		}
		if len(copies) < 100 {
			to := filepath.Join(t.TempDir(), "copy.db")
			for _, suffix := range []string{"", "-wal"} {
				text, err := os.ReadFile(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if suffix != "" && running {
					text = text[:rand.IntN(len(text)+1)] // a write that was cut short, too
				}
				if err := os.WriteFile(to+suffix, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			copies = append(copies, to)
		}
	}
	for _, c := range copies {
		checkPairs(t, c)
	}
	if n := checkPairs(t, copies[len(copies)-1]); len(copies) < 100 && n != len(files) {
		t.Errorf("the last copy has %d files", n)
	}
}
