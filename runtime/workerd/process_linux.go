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

// tie has the system end the program when the thread that starts it ends, and spares it the signals of the terminal, so that running
// requests may end.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// guard has the system end the program when we end, where tie could not.
func guard(*os.Process) (io.Closer, error) { return nil, nil }

func (f *front) listen(folder string) (args []string, files []*os.File, err error) {
	return f.listenUnix(folder)
}

// clock reads the CPU time of a process.
type clock struct {
	id    int32
	statm *os.File
}

// open finds the clock of a process: its number is made of the process's (clock_getcpuclockid(3)).
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

// memory returns the bytes of memory that the process has to itself; 0 where they are not known.
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
