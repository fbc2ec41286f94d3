package testmachine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a file system in memory that only the process of the test sees.
type Disk struct {
	Dir string
	t   *testing.T
}

// OwnDisk mounts a disk of a size such as "16m". It runs the test again for that, in a process with private mounts; in the
// parent it returns nil after the test has its result.
func OwnDisk(t *testing.T, size string) *Disk {
	t.Helper()
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		asRoot(attributes)
	}
	if !InOwnProcess(t, attributes) {
		return nil
	}
	d := &Disk{t.TempDir(), t}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("disk", d.Dir, "tmpfs", 0, "size="+size)
	}
	if errors.Is(err, fs.ErrPermission) {
		Lacks(t, "the right to mount a disk", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.Dir, syscall.MNT_DETACH) })
	return d
}

func (d *Disk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill leaves no room on the disk.
func (d *Disk) Fill() {
	d.t.Helper()
	f, err := os.Create(d.ballast())
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 4096; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// Empty frees the space that Fill took.
func (d *Disk) Empty() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}
