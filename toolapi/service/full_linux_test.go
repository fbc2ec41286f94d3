package service_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// inOwnMounts runs the test once more, in a process that alone sees what it mounts. It
// reports whether this is that process.
func inOwnMounts(t *testing.T) bool {
	t.Helper()
	const variable = "PAGES_OWN_MOUNTS"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) || strings.Contains(string(out), "--- SKIP: "+t.Name()) {
		t.Skipf("SKIP: needs a mount namespace of its own: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestFullDiskOfBlobs is U-050: a blob that the disk has no room for is refused as such,
// leaves nothing, and is taken when there is room again.
func TestFullDiskOfBlobs(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	disk := t.TempDir()
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("disk", disk, "tmpfs", 0, "size=16m")
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	w := newWorldAt(t, filepath.Join(disk, "platform.db"))
	text := strings.Repeat("no room for this. ", 10_000)
	id, _ := w.declareText(text)
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	if a := w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text); a.status != http.StatusInsufficientStorage || !strings.Contains(string(a.body), `"storage_full"`) {
		t.Errorf("on a full disk: %d %s", a.status, a.body)
	}
	if left, err := os.ReadDir(filepath.Join(disk, "blobs", "tmp")); err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if a := w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text); a.status != http.StatusCreated {
		t.Errorf("with room: %d %s", a.status, a.body)
	}
	if a := w.finalizeText(id); a.status != http.StatusOK || w.service.Failure() != nil {
		t.Errorf("%d %s, %v", a.status, a.body, w.service.Failure())
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 4096; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}
