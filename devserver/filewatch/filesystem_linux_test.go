package filewatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

func TestKindOf(t *testing.T) {
	for number, want := range map[uint32]string{
		0x01021997: "9p", 0x65735546: "fuse", 0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x786f4256: "vboxsf",
		0x794c7630: "overlay", unix.EXT4_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "",
	} {
		if got, _ := kindOf(number); got != want {
			t.Errorf("%#x is %q, want %q", number, got, want)
		}
	}
}

// TestOverlay: a change of the lower layer of an overlay raises no event, and the watcher finds it without a flag.
func TestOverlay(t *testing.T) {
	disk := testmachine.OwnDisk(t, "16m")
	if disk == nil {
		return
	}
	dir := map[string]string{}
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		dir[name] = filepath.Join(disk.Dir, name)
		if err := os.Mkdir(dir[name], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lower, merged := filepath.Join(dir["lower"], "public/index.html"), filepath.Join(dir["merged"], "public/index.html")
	write(t, lower, "1")
	age(t, lower)
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir["lower"], dir["upper"], dir["work"])
	err := syscall.Mount("overlay", dir["merged"], "overlay", 0, options)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENODEV) {
		testmachine.Lacks(t, "overlay file systems", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Unmount(dir["merged"], syscall.MNT_DETACH) }()
	w := New(Options{})
	startWatcher(t, w, filepath.Dir(merged))
	write(t, lower, "version 2")
	awaitPath(t, w, merged)
	later := filepath.Join(dir["lower"], "public/new.html")
	write(t, later, "1")
	awaitPath(t, w, filepath.Join(dir["merged"], "public/new.html"))
}
