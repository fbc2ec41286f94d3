package workerd

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// clock reads the CPU time of a process by proc_pidinfo(PROC_PIDTASKINFO), as ps and top do.
type clock struct{ pid int }

// taskInfo is struct proc_taskinfo of <sys/proc_info.h>.
type taskInfo struct {
	VirtualSize, ResidentSize, User, System, ThreadsUser, ThreadsSystem uint64

	Policy, Faults, PageIns, CowFaults, MessagesSent, MessagesReceived, SyscallsMach, SyscallsUnix int32
	Switches, Threads, Running, Priority                                                           int32
}

const (
	callPIDInfo = 2 // PROC_INFO_CALL_PIDINFO
	pidTaskInfo = 4 // PROC_PIDTASKINFO
)

func (c *clock) open(p *os.Process) error {
	c.pid = p.Pid
	if _, err := c.info(); err != nil {
		return fmt.Errorf("read the clock of workerd: %w", err)
	}
	return nil
}

func (c *clock) info() (taskInfo, error) {
	var t taskInfo
	size := unsafe.Sizeof(t)
	//nolint:staticcheck // the wrapper of this call needs cgo
	n, _, errno := syscall.Syscall6(
		syscall.SYS_PROC_INFO, callPIDInfo, uintptr(c.pid), pidTaskInfo, 0, uintptr(unsafe.Pointer(&t)), size,
	)
	switch {
	case errno != 0:
		return t, errno
	case n != size:
		return t, errors.New("proc_pidinfo gave less than was asked for")
	}
	return t, nil
}

// read returns the CPU time of all threads of the process so far. The kernel counts in units of its own clock: 1 ns on Intel, 125/3 ns
// on Apple's processors.
func (c *clock) read() (time.Duration, error) {
	t, err := c.info()
	if err != nil {
		return 0, err
	}
	units := t.User + t.System
	if runtime.GOARCH == "arm64" {
		const numerator, denominator = 125, 3
		units = units * numerator / denominator
	}
	return time.Duration(units), nil //nolint:gosec // 292 years
}

func (c *clock) memory() int64 {
	t, err := c.info()
	if err != nil {
		return 0
	}
	return int64(t.ResidentSize) //nolint:gosec // bytes of memory
}

func (c *clock) close() {}
