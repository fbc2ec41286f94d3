//go:build unix

package restorepoint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
)

// faultRows are the rows of a database that TestFailingCalls restores.
const faultRows = "CREATE TABLE rows (n INTEGER PRIMARY KEY, x); INSERT INTO rows WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL " +
	"SELECT n + 1 FROM c WHERE n < 60) SELECT n, randomblob(3000) FROM c"

// addAndPutBack makes a restore point of a database and puts p1 back; said is called with each step that is done.
func addAndPutBack(ctx context.Context, t *testing.T, dir string, said func(string)) error {
	t.Helper()
	file := filepath.Join(dir, "site.db")
	store := restorepoint.Store{File: filepath.Join(dir, "restorepoints.db"), Now: time.Now}
	db := openFile(t, file)
	p, _, err := store.Add(ctx, file, restorepoint.About{Reason: restorepoint.ReasonRestore, Before: "p1"})
	if err != nil {
		return err
	}
	said(p.ID)
	made := filepath.Join(dir, "made.db")
	if _, err := store.Extract(ctx, "p1", made); err != nil {
		return err
	}
	if err := restorepoint.Mark(ctx, made, "an id", "p1", time.Now()); err != nil {
		return err
	}
	change, err := restorepoint.BeginWhole(ctx, db, made, func() error { return nil })
	if err == nil {
		err = change.Commit()
	}
	if err == nil {
		said("restored")
	}
	return err
}

// TestFailingCalls: the n-th write, sync or opening of a file fails while a restore point is created and another one restored, with strace.
// The database is the whole old one or the whole restored one, earlier points keep every byte, an acknowledged point exists, and the next
// one can be made.
func TestFailingCalls(t *testing.T) {
	if dir := os.Getenv("PAGES_TEST_CALLS"); dir != "" {
		// The process ends as the service does after a sync that failed: it closes nothing.
		err := addAndPutBack(t.Context(), t, dir, func(text string) { fmt.Println("said", text) })
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(9)
		}
		os.Exit(0)
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		testmachine.Lacks(t, "strace, which makes calls fail", nil)
	}
	if err := exec.CommandContext(t.Context(), strace, "-o", os.DevNull, "true").Run(); err != nil {
		testmachine.Lacks(t, "the right to trace a process", err)
	}
	last := 3
	if os.Getenv("PAGES_SOAK") != "" {
		last = 60
	}
	if testing.Short() {
		last = 1
	}
	failed := 0
	for _, call := range []string{
		"pwrite64:error=EIO", "pwrite64:error=ENOSPC", "write:error=ENOSPC", "fsync:error=EIO", "fdatasync:error=EIO",
		"ftruncate:error=ENOSPC", "openat:error=EMFILE",
	} {
		t.Run(call, func(t *testing.T) {
			for n := 1; n <= last; n++ {
				if failingCall(t, strace, call, n) {
					failed++
				}
			}
		})
	}
	if failed == 0 {
		t.Error("no run failed")
	}
	t.Logf("%d runs failed", failed)
}

func failingCall(t *testing.T, strace, call string, n int) (failed bool) {
	t.Helper()
	s := newSite(t, faultRows)
	s.add(restorepoint.ReasonPublish, "r2")
	then := s.copied()
	s.exec("DELETE FROM rows WHERE n % 2 = 0; UPDATE rows SET x = randomblob(2000)")
	old := dump(t, s.file)
	dir := filepath.Dir(s.file)
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", os.DevNull, "-e",
		fmt.Sprintf("inject=%s:when=%d", call, n), os.Args[0], "-test.run=^TestFailingCalls$")
	cmd.Env = append(os.Environ(), "PAGES_TEST_CALLS="+dir)
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ok || exit.ExitCode() != 9 && !bytes.Contains(out, []byte("runtime: "))) { // Go ends without files
		t.Errorf("%s, the %dth: %v\n%s", call, n, err, out)
	}
	restored := dump(t, s.extract("p1"))
	switch got := dump(t, s.file); {
	case got != old && got != restored:
		t.Errorf("%s, the %dth: neither the old database nor the one of the point\n%s", call, n, out)
	case bytes.Contains(out, []byte("said restored")) && got != restored:
		t.Errorf("%s, the %dth: the run says it is restored, and it is not\n%s", call, n, out)
	}
	if got := s.one("SELECT integrity_check FROM pragma_integrity_check"); got != "ok" {
		t.Errorf("%s, the %dth: %s", call, n, got)
	}
	if !same(withoutCounters(read(t, s.extract("p1"))), withoutCounters(then)) {
		t.Errorf("%s, the %dth: p1 has other bytes", call, n)
	}
	all, listed := s.store.List(t.Context())
	if listed != nil || bytes.Contains(out, []byte("said p2")) && (len(all) != 2 || dump(t, s.extract("p2")) != old) {
		t.Errorf("%s, the %dth: the points are %v, %v\n%s", call, n, all, listed, out)
	}
	next := s.add(restorepoint.ReasonPublish, "r3")
	known := func(p restorepoint.Point) bool { return p.ID == next.ID }
	if dump(t, s.extract(next.ID)) != dump(t, s.file) || slices.ContainsFunc(all, known) {
		t.Errorf("%s, the %dth: the next point is %v", call, n, next)
	}
	return err != nil
}
