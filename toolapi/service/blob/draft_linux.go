package blob

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openNameless makes a file that is in a folder and has no name there (open(2),
// O_TMPFILE).
func openNameless(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE, 0o600)
}

// linkNameless gives such a file a name. It fails if the name exists.
func linkNameless(f *os.File, path string) error {
	from := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "linkat", Old: from, New: path, Err: err}
	}
	return nil
}
