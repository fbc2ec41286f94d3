package binding_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestBindingsFull fills a disk of its own: a file system in memory that only the
// process of the test sees.
func TestBindingsFull(t *testing.T) {
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	if !again(t, attributes) {
		return
	}
	disk := t.TempDir()
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("disk", disk, "tmpfs", 0, "size=48m")
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	ballast := filepath.Join(disk, "ballast")
	fill := func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for size := 1 << 20; size >= 4096; size /= 2 {
			for {
				if _, err := f.Write(make([]byte, size)); err != nil {
					break
				}
			}
		}
	}
	empty := func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	newFaulty(t, disk).survive(fill, empty, map[string][]string{
		"db":     {"Error: D1_ERROR: database or disk is full: SQLITE_FULL"},
		"kv":     {"Error: KV PUT failed: 500 Internal Server Error: database or disk is full"},
		"stream": {"Error: KV PUT failed: 500 Internal Server Error: database or disk is full"},
		"r2":     {"Error: put: We encountered an internal error. Please try again. no space left on device (10001)", "Please try again. database or disk is full: SQLITE_FULL (10001)"},
	})
}
