package devcommand

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ownsPort reports whether a process of a group listens on a port. known is false if the system does not report it.
func ownsPort(group, port int) (owns, known bool) {
	sockets := listening(port)
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(sockets) == 0 {
		return false, false
	}
	for _, p := range processes {
		if groupOf(p) != group {
			continue
		}
		list, err := os.ReadDir(p + "/fd")
		if err != nil {
			return false, false
		}
		for _, fd := range list {
			if to, err := os.Readlink(p + "/fd/" + fd.Name()); err == nil && sockets[to] {
				return true, true
			}
		}
	}
	return false, true
}

// listening returns the sockets that listen on a port, as the names of their links in /proc.
func listening(port int) map[string]bool {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			const listens, inode = "0A", 9
			f := strings.Fields(line)
			if len(f) <= inode || f[3] != listens {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
				sockets["socket:["+f[inode]+"]"] = true
			}
		}
	}
	return sockets
}

// groupOf is the process group of a folder of /proc; 0 if the process has ended.
func groupOf(process string) int {
	text, err := os.ReadFile(process + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text[max(0, strings.LastIndexByte(string(text), ')')):]), ") ")
	if f := strings.Fields(rest); len(f) > 2 {
		n, _ := strconv.Atoi(f[2])
		return n
	}
	return 0
}
