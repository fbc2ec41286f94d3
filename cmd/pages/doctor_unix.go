//go:build unix

package main

import "golang.org/x/sys/unix"

// cacheVariable names the folder that the user's caches are in.
const cacheVariable = "XDG_CACHE_HOME"

// freeDisk is how many bytes may still be written where path is.
func freeDisk(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the fields' types differ between systems
}
