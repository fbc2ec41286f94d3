//go:build unix

package userfile

import "golang.org/x/sys/unix"

// FreeDisk returns the number of free bytes on the disk of path.
func FreeDisk(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the fields' types differ between systems
}
