package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestMigratePowerLoss cuts the power of the disk at random during migrations. Each reported migration is there afterwards, and each file
// is applied as a whole or not at all.
func TestMigratePowerLoss(t *testing.T) {
	needsPower(t)
	path := program(t)
	power := newDisk(t)
	dir := migrationSite(t, nil)
	state := filepath.Join(power.place, "state")
	said := 0 // files that were reported as applied
	check := func() {
		var status migration.StatusReport
		runJSON(t, &status, "migrate", "status", dir, "--state-dir", state, "--json")
		if len(status.Applied) < said {
			t.Errorf("%d files are applied, and %d were reported", len(status.Applied), said)
		}
		if file := filepath.Join(state, statefolder.SiteFile); userfile.IsFile(file) {
			db, err := localstate.OpenDatabase(t.Context(), file, false)
			if err != nil {
				t.Fatal(err)
			}
			var tables int
			var whole string
			err = db.QueryRow("SELECT (SELECT count(*) FROM sqlite_schema WHERE name GLOB '[ab][0-9]*'), integrity_check FROM "+
				"pragma_integrity_check").Scan(&tables, &whole)
			if err := errors.Join(err, db.Close()); err != nil || tables != 2*len(status.Applied) || whole != "ok" {
				t.Errorf("%d files are applied and %d tables are there; integrity: %s, %v", len(status.Applied), tables, whole, err)
			}
		}
		said = len(status.Applied)
	}
	next := 0
	for range 20 {
		for range 5 {
			fill := strings.Repeat(fmt.Sprintf("INSERT INTO a%d VALUES (randomblob(100));\n", next), 200)
			put(t, filepath.Join(dir, "migrations", fmt.Sprintf("%04d.sql", next)),
				fmt.Sprintf("CREATE TABLE a%d(x);\n%sCREATE TABLE b%d(x);\n", next, fill, next))
			next++
		}
		power.mount()
		cmd := exec.Command(path, "migrate", dir, "--state-dir", state)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err == nil {
				said = next
			}
			power.cut()
		case <-time.After(time.Duration(rand.Int64N(int64(200 * time.Millisecond)))):
			power.cut()
			_ = cmd.Process.Kill()          // it may have ended just now
			t.Log("not believed:", <-ended) // see cut
		}
		power.unmount()
		power.mount()
		check()
		power.unmount()
	}
	t.Logf("%d of %d files in the end", said, next)
}
