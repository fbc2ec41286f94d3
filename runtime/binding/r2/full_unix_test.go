//go:build unix

package r2

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestStorageFull puts objects while no file may grow beyond a megabyte. It runs in a new process, since the limit applies to a whole
// process.
func TestStorageFull(t *testing.T) {
	if os.Getenv("STORAGE_FULL") != "" {
		putTooMuch(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStorageFull$", "-test.v")
	cmd.Env = append(os.Environ(), "STORAGE_FULL=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func putTooMuch(t *testing.T) {
	dir := t.TempDir()
	s := openStorage(t, dir)
	put(t, s, "k", "before", PutOptions{})
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Put(t.Context(), "k", bytes.NewReader(make([]byte, 2<<20)), PutOptions{})
	wantStorage(t, err, "put: We encountered an internal error. Please try again. file too large (10001)")
	if err != nil && strings.Contains(err.Error(), dir) {
		t.Errorf("the error tells a path: %v", err)
	}
	if got, _ := read(t, s, "k", GetOptions{}); got != "before" {
		t.Errorf("k = %q", got)
	}
	if in := blobNames(t, s, incomingFolder); len(in) != 0 {
		t.Errorf("incoming %v", in)
	}
	put(t, s, "k", "after", PutOptions{})
}
