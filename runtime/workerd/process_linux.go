package workerd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tie makes the system end the program when the thread that starts it ends, and keeps the terminal's signals from it, so that running
// requests can finish.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// guard makes the system end the program when this process ends, on systems without tie.
func guard(*os.Process) (io.Closer, error) { return nil, nil }

func (f *front) listen(folder string) (args []string, files []*os.File, err error) {
	return f.listenUnix(folder)
}

// clock reads the CPU time of a process.
type clock struct {
	id    int32
	statm *os.File
}

// open finds the clock of a process: its number is computed from that of the process (clock_getcpuclockid(3)).
func (c *clock) open(p *os.Process) (err error) {
	const perProcess = 2                 // CPUCLOCK_SCHED
	c.id = int32(^p.Pid)<<3 | perProcess //nolint:gosec // numbers of processes have 22 bits
	if _, err := c.read(); err != nil {
		return fmt.Errorf("read the clock of workerd: %w", err)
	}
	c.statm, err = os.Open("/proc/" + strconv.Itoa(p.Pid) + "/statm")
	return err
}

// read returns the CPU time of all threads of the process so far.
func (c *clock) read() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(c.id, &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}

// memory returns the process's private memory in bytes; 0 if unknown.
func (c *clock) memory() int64 {
	if c.statm == nil {
		return 0
	}
	b := make([]byte, 128)
	n, err := c.statm.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	fields := strings.Fields(string(b[:n]))
	const resident, shared = 1, 2
	if len(fields) <= shared {
		return 0
	}
	all, _ := strconv.ParseInt(fields[resident], 10, 64)
	others, _ := strconv.ParseInt(fields[shared], 10, 64)
	return (all - others) * int64(os.Getpagesize())
}

func (c *clock) close() {
	if c.statm != nil {
		_ = c.statm.Close()
	}
}
