//go:build unix

package migrate_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
)

// TestDiskFull: no file may grow over a limit, which rises by 4 KiB from run to run. It
// runs in a process of its own, whose limit it is.
func TestDiskFull(t *testing.T) {
	testmachine.Unraced(t)
	if testmachine.InOwnProcess(t, nil) {
		fillDisk(t)
	}
}

func fillDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	var all syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &all); err != nil {
		t.Fatal(err)
	}
	files := pairFiles(3, 200)
	failed, uncommitted, every := 0, 0, 1
	if testing.Short() {
		every = 4
	}
	for step := 0; step < 64; step += every {
		path := filepath.Join(t.TempDir(), "site.db")
		o := options
		o.UndoDir = path + "-undo"
		apply(t, openPath(t, path), files[:1])
		// The file that holds the shared memory of the log has 32 KiB in any case.
		limit := syscall.Rlimit{Cur: 32<<10 + uint64(step)*4096, Max: all.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		db := openPath(t, path)
		run := func() error {
			_, err := migrator(db, files, o).Apply(t.Context())
			return err
		}
		if step/every%2 == 1 {
			run = func() error {
				begun, err := migrator(db, files, options).Begin(t.Context())
				if err != nil {
					return err
				}
				if err = begun.Commit(); err != nil {
					uncommitted++
				}
				return err
			}
		}
		err := run()
		db.Close()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &all); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			failed++
			got := codes(err)
			if strings.Contains(err.Error(), "not an error") {
				t.Errorf("%d bytes: %v", limit.Cur, err)
			}
			if !strings.HasSuffix(got, migrate.CodeDatabaseFull) && !strings.HasSuffix(got, migrate.CodeDatabaseUnavailable) {
				t.Errorf("%d bytes: %s, %v", limit.Cur, got, err)
			}
		}
		checkPairs(t, path)
		apply(t, openPath(t, path), files)
		if n := checkPairs(t, path); n != len(files) {
			t.Errorf("%d files in the end", n)
		}
	}
	if failed < 5/every {
		t.Errorf("only %d runs found no room", failed)
	}
	if uncommitted > 1 {
		t.Errorf("%d runs had no room for their commit alone", uncommitted)
	}
}

// TestFailingCalls: the n-th system call fails, with strace.
func TestFailingCalls(t *testing.T) {
	files := pairFiles(3, 50)
	if path := os.Getenv("PAGES_TEST_CALLS"); path != "" {
		if _, err := migrator(openPath(t, path), files, options).Apply(t.Context()); err != nil {
			if got := codes(err); strings.Contains(got, "untyped") {
				t.Error(err)
			}
			os.Exit(9) // as the command does
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		testmachine.Lacks(t, "strace, which makes calls fail", nil)
	}
	if err := exec.CommandContext(t.Context(), strace, "-o", os.DevNull, "true").Run(); err != nil {
		testmachine.Lacks(t, "the right to trace a process", err)
	}
	last := 8
	if os.Getenv("PAGES_SOAK") != "" {
		last = 200
	}
	if testing.Short() {
		last = 1
	}
	failed := 0
	for _, call := range []string{
		"pwrite64:error=EIO", "fsync:error=EIO", "fdatasync:error=EIO", "ftruncate:error=ENOSPC", "openat:error=EMFILE",
	} {
		t.Run(call, func(t *testing.T) {
			for n := 1; n <= last; n++ {
				path := filepath.Join(t.TempDir(), "site.db")
				apply(t, openPath(t, path), nil)
				cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", os.DevNull, "-e",
					fmt.Sprintf("inject=%s:when=%d", call, n), os.Args[0], "-test.run=^TestFailingCalls$")
				cmd.Env = append(os.Environ(), "PAGES_TEST_CALLS="+path)
				out, err := cmd.CombinedOutput()
				if err != nil {
					failed++
				}
				if strings.Contains(string(out), "FAIL") {
					t.Errorf("%s, the %dth: %v\n%s", call, n, err, out)
				}
				done := checkPairs(t, path)
				if err == nil && done != len(files) {
					t.Errorf("%s, the %dth: the run says it is done, and %d files are", call, n, done)
				}
				apply(t, openPath(t, path), files)
				checkPairs(t, path)
			}
		})
	}
	if failed == 0 {
		t.Error("no run failed")
	}
	t.Logf("%d runs failed", failed)
}
