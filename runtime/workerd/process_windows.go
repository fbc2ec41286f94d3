package workerd

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tie keeps Ctrl+C from the program, so that running requests can finish.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// job is a system object that ends its processes when its last handle closes, which happens at the end of this process.
type job windows.Handle

// Close implements io.Closer.
func (j job) Close() error { return windows.CloseHandle(windows.Handle(j)) }

func guard(p *os.Process) (io.Closer, error) {
	object, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(object, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		const rights = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
		var handle windows.Handle
		handle, err = windows.OpenProcess(rights, false, uint32(p.Pid)) //nolint:gosec // not negative
		if err == nil {
			err = windows.AssignProcessToJobObject(object, handle)
			_ = windows.CloseHandle(handle)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(object)
		return nil, fmt.Errorf("put workerd into a job object: %w", err)
	}
	return job(object), nil
}

// listen chooses a port of loopback. Our script refuses connections without the id of one of our requests, and the first ping proves that
// workerd listens.
func (f *front) listen(string) (args []string, files []*os.File, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it waits for nothing
	if err != nil {
		return nil, nil, err
	}
	f.network, f.address = "tcp", listener.Addr().String()
	return []string{"--socket-addr", frontName + "=" + f.address}, nil, listener.Close()
}

// clock reads the CPU time of a process.
type clock struct{ handle windows.Handle }

func (c *clock) open(p *os.Process) (err error) {
	const query = windows.PROCESS_QUERY_LIMITED_INFORMATION
	if c.handle, err = windows.OpenProcess(query, false, uint32(p.Pid)); err != nil { //nolint:gosec // not negative
		return fmt.Errorf("read the clock of workerd: %w", err)
	}
	return nil
}

// read returns the CPU time of all threads of the process so far. Windows counts it in ticks of up to 16 ms.
func (c *clock) read() (time.Duration, error) {
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(c.handle, &created, &ended, &kernel, &user); err != nil {
		return 0, err
	}
	const unit = 100 * time.Nanosecond
	ticks := func(t windows.Filetime) time.Duration {
		return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * unit
	}
	return ticks(kernel) + ticks(user), nil
}

// memory is not read on Windows.
func (c *clock) memory() int64 { return 0 }

func (c *clock) close() { _ = windows.CloseHandle(c.handle) }
