package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file makes the fsyncs of a process fail, as a broken disk does. The process asks before each (seccomp's user notification), and the
// test answers for the kernel. It needs no privileges, only the right of a process to filter its own calls.

// The names that package unix lacks; from linux/seccomp.h.
const (
	seccompSetModeFilter   = 1
	seccompNewListener     = 1 << 3
	seccompUserNotify      = 0x7fc00000
	seccompAllow           = 0x7fff0000
	seccompContinue        = 1
	seccompReceive         = 0xc0502100
	seccompSend            = 0xc0182101
	listenerSocket         = 3 // of the process, to pass its listener to the test
	offsetOfSystemCallName = 0
)

// notification is a call that a process wants to make.
type notification struct {
	id    uint64
	pid   uint32
	_     uint32
	call  int32
	_     uint32
	_     uint64
	first uint64
	_     [5]uint64
}

// ruling is the outcome of the call.
type ruling struct {
	id    uint64
	_     int64
	errno int32
	flags uint32
}

// asks begins a test that uses askFirst. In the process that was started instead of the program, it becomes the program, and does not
// return.
func asks(t *testing.T) {
	t.Helper()
	if flag.NArg() > 0 {
		t.Fatal(become(flag.Args()))
	}
}

// become becomes a program that asks before each fsync.
func become(args []string) error {
	runtime.LockOSThread() // the filter belongs to the thread that becomes the program
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfSystemCallName},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 2},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: seccompAllow},
		{Code: unix.BPF_RET | unix.BPF_K, K: seccompUserNotify},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, seccompSetModeFilter, seccompNewListener,
		uintptr(unsafe.Pointer(&program))) //nolint:gosec // a struct of the kernel's
	if errno != 0 {
		return errno
	}
	if err := unix.Sendmsg(listenerSocket, []byte{0}, unix.UnixRights(int(listener)), nil,
		0); err != nil { //nolint:gosec // a file descriptor
		return err
	}
	unix.CloseOnExec(listenerSocket)
	return syscall.Exec(args[0], args, os.Environ()) //nolint:gosec // the test chooses the command
}

// askFirst makes a command ask before each fsync. fails gets the file's path, and decides whether the fsync fails; it is called from one
// goroutine.
func askFirst(t *testing.T, cmd *exec.Cmd, fails func(path string) bool) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs") //nolint:gosec // file descriptors
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd.Args = append([]string{os.Args[0], "-test.run=^" + name + "$", "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = os.Args[0]
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir()) // exec skips the removal of its files
	cmd.ExtraFiles = []*os.File{theirs}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer ours.Close()
		if err := ruleOn(ours, fails); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		_ = theirs.Close()
		<-answered
	})
}

// ruleOn answers for the kernel until the process has ended.
func ruleOn(from *os.File, fails func(path string) bool) error {
	conn, err := net.FileConn(from)
	if err != nil {
		return err
	}
	defer conn.Close()
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("that is not a socket")
	}
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := socket.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil || n == 0 {
		return errors.Join(errors.New("the process gave no listener"), err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	listener := fds[0]
	defer unix.Close(listener)
	for {
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}} //nolint:gosec // a file descriptor
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return err
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return nil // all tracees have ended
		}
		var asked notification
		if err := control(listener, seccompReceive, unsafe.Pointer(&asked)); err != nil { //nolint:gosec // a struct of the kernel's
			continue // it has ended by now
		}
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", asked.pid, asked.first))
		said := ruling{id: asked.id, flags: seccompContinue}
		if err == nil && fails(path) {
			said.flags, said.errno = 0, -int32(unix.EIO)
		}
		_ = control(listener, seccompSend, unsafe.Pointer(&said)) //nolint:gosec // as above; it may have ended
	}
}

func control(fd int, request uintptr, data unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(data))
	if errno != 0 {
		return errno
	}
	return nil
}
