package blob

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// notifier is an inotify(7) instance. The zero value is not open yet.
type notifier struct {
	file   int
	opened bool
	failed bool // the system has no more inotify instances
	buffer []byte
}

// identity distinguishes a folder from a later one of the same name.
type identity struct{ device, inode uint64 }

func identify(dir string) (identity, bool) {
	var info unix.Stat_t
	if err := unix.Lstat(dir, &info); err != nil {
		return identity{}, false
	}
	return identity{uint64(info.Dev), info.Ino}, true //nolint:unconvert // an int32 on some machines
}

func (n *notifier) open() bool {
	if !n.opened && !n.failed {
		var err error
		n.file, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		n.opened, n.failed = err == nil, err != nil
	}
	return n.opened
}

func (n *notifier) close() error {
	if !n.opened {
		return nil
	}
	n.opened, n.failed = false, true
	return unix.Close(n.file)
}

// changes are the events of a file in a folder, goneSelf those of the folder itself.
const (
	changes  = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	goneSelf = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED
)

// add watches an open folder, unless other machines can write to it.
func (n *notifier) add(folder int) (id int32, ok bool) {
	if !isLocal(folder) {
		return 0, false
	}
	at := "/proc/self/fd/" + strconv.Itoa(folder)
	wd, err := unix.InotifyAddWatch(n.file, at, changes|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_ONLYDIR)
	return int32(wd), err == nil //nolint:gosec // as the kernel counts them
}

// isLocal reports whether this kernel sees every change in an open folder.
func isLocal(folder int) bool {
	var info unix.Statfs_t
	if err := unix.Fstatfs(folder, &info); err != nil {
		return false
	}
	switch int64(info.Type) { //nolint:unconvert // an int32 on some machines
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC:
		return true
	}
	return false
}

func (n *notifier) remove(id int32) {
	_, _ = unix.InotifyRmWatch(n.file, uint32(id)) //nolint:gosec // one that the kernel gave; it may be gone
}

// read processes the pending reports. It returns false if one was lost.
func (n *notifier) read(told func(id int32, name string, gone bool)) bool {
	if n.buffer == nil {
		n.buffer = make([]byte, 64<<10)
	}
	for {
		got, err := unix.Read(n.file, n.buffer)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return true
		case err != nil || got <= 0:
			return false
		}
		for rest := n.buffer[:got]; len(rest) >= unix.SizeofInotifyEvent; {
			id := int32(binary.NativeEndian.Uint32(rest)) //nolint:gosec // as it was written
			mask := binary.NativeEndian.Uint32(rest[4:])
			length := int(binary.NativeEndian.Uint32(rest[12:]))
			name := string(rest[unix.SizeofInotifyEvent:][:length])
			rest = rest[unix.SizeofInotifyEvent+length:]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				return false
			}
			told(id, strings.TrimRight(name, "\x00"), mask&goneSelf != 0)
		}
	}
}
