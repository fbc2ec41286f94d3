package doctor

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// watchLimits compares a number of folders with the limits of inotify(7), which all programs of a user share.
func watchLimits(folders int) []Finding {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	limit, _ := strconv.Atoi(strings.TrimSpace(string(text))) // 0 if it cannot be read
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		err = unix.Close(fd)
	}
	const spare = 2
	switch {
	case err != nil:
		return warns("watching", "sudo sysctl fs.inotify.max_user_instances=512, or close an editor",
			"the system gives no more watchers, so pages dev polls: %s", err)
	case limit > 0 && folders*spare > limit:
		return warns("watching", "sudo sysctl fs.inotify.max_user_watches=524288",
			"the site has %s and the system watches %d for all programs, so that pages dev polls",
			wording.Count(folders, "folder"), limit)
	case limit == 0:
		return well("watching", "%s", wording.Count(folders, "folder"))
	}
	return well("watching", "%s, of %d that the system watches", wording.Count(folders, "folder"), limit)
}
