package workerd

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns the bytes of memory that this process and its children may use: the lower of the machine's and the control group's.
// 0 if unknown.
func machineMemory() int64 {
	most := int64(math.MaxInt64)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		most = int64(info.Totalram) * int64(info.Unit) //nolint:gosec // bytes of a machine
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	if most = min(most, groupMemory("/sys/fs/cgroup", string(groups))); most == math.MaxInt64 {
		return 0
	}
	return most
}

// groupMemory returns the smallest limit of the control groups of a process, of either version. It takes their folder and the text of
// /proc/self/cgroup. In a container the folder of the group is the root, and the path may be one of the host.
func groupMemory(root, groups string) int64 {
	most := int64(math.MaxInt64)
	take := func(file string) {
		text, _ := os.ReadFile(file)
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 { // "max" means none
			most = min(most, n)
		}
	}
	for line := range strings.Lines(groups) {
		const fields = 3 // "4:memory:/a/b", and of the second version "0::/a/b"
		parts := strings.SplitN(strings.TrimSpace(line), ":", fields)
		if len(parts) != fields {
			continue
		}
		controllers := strings.Split(parts[1], ",")
		folder, file := root, "memory.max"
		switch {
		case parts[1] == "":
		case slices.Contains(controllers, "memory"):
			folder, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			take(filepath.Join(folder, at, file))
			if at == "/" {
				break
			}
		}
	}
	return most
}
