package testmachine

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// OwnNetwork reports whether this process has a network of loopback alone, with a second IPv4 address. It runs the test again in such a
// process; in the parent it returns false after the test has its result.
func OwnNetwork(t *testing.T, address netip.Addr) bool {
	t.Helper()
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		asRoot(attributes)
	}
	if !InOwnProcess(t, attributes) {
		return false
	}
	err := addLoopback(address)
	if errors.Is(err, fs.ErrPermission) {
		Lacks(t, "the right to set up a network", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return true
}

// asRoot starts the process in a new user namespace, in which it is root.
func asRoot(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags |= syscall.CLONE_NEWUSER
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
}

// addLoopback turns loopback on and adds an address to it.
func addLoopback(address netip.Addr) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	up.SetUint16(unix.IFF_UP)
	alias, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	ip := address.As4()
	return errors.Join(
		unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up), alias.SetInet4Addr(ip[:]), unix.IoctlIfreq(s, unix.SIOCSIFADDR, alias),
	)
}
