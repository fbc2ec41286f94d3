package processmemory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// giveBackProgram drops the program's file from the memory of the process. The kernel maps sixteen pages for each needed page, so that half
// of the file is in memory after a start.
func giveBackProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range mappings(string(text), program) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED) // it is a hint
	}
}

// mapping is a part of the address space.
type mapping struct{ from, to uintptr }

// mappings returns the unmodified mappings of a file: the kernel has no other copy of a modified one. text is the content of smaps.
func mappings(text, file string) (all []mapping) {
	const (
		header    = 6 // "00400000-0040b000 r-xp 00000000 fd:00 1234    /usr/bin/pages"
		protected = 1
	)
	var (
		at   mapping
		ours bool
	)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if from, to, ok := strings.Cut(fields[0], "-"); ok {
			start, errFrom := strconv.ParseUint(from, 16, 64)
			end, errTo := strconv.ParseUint(to, 16, 64)
			at = mapping{uintptr(start), uintptr(end)}
			_, path, _ := strings.Cut(line, "/")
			ours = errFrom == nil && errTo == nil && len(fields) >= header && !strings.Contains(fields[protected], "w") &&
				"/"+strings.TrimSuffix(path, "\n") == file
			continue
		}
		if ours && fields[0] == "Anonymous:" && fields[1] == "0" {
			all = append(all, at)
		}
	}
	return all
}
