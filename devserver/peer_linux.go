package devserver

import (
	"encoding/binary"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peerPoll is the pause between two checks of the other end of a connection.
const peerPoll = 50 * time.Millisecond

// isOrphaned reports whether the other end of a connection on this machine was closed in both directions; a FIN alone may also mean that it
// sends no more. The kernel shows it: no file belongs to such a socket. It is false if unknown.
func isOrphaned(c net.Conn) bool {
	local, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return false
	}
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return false
	}
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, syscall.NETLINK_INET_DIAG)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	response := make([]byte, 512)
	if syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Usec: 10_000}) != nil ||
		syscall.Sendto(fd, socketQuery(peer, local), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}) != nil {
		return false
	}
	n, _, err := syscall.Recvfrom(fd, response, 0)
	if err != nil || n < netlinkHeader+diagMessage || binary.NativeEndian.Uint16(response[4:]) != diagByFamily {
		return false
	}
	return binary.NativeEndian.Uint32(response[netlinkHeader+68:]) == 0 // the inode of its file
}

// hungUp reports whether the other end of a connection sends no more (half), or is closed (whole), even while some of its
// bytes are still unread.
func hungUp(c net.Conn) (half, whole bool) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a descriptor
		if n, err := unix.Poll(polled, 0); n != 1 || err != nil {
			return
		}
		whole = polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		half = polled[0].Revents&unix.POLLRDHUP != 0
	})
	return err == nil && half, err == nil && whole
}

// The layouts of linux/netlink.h and linux/inet_diag.h.
const (
	netlinkHeader = 16
	diagRequest   = 56
	diagMessage   = 72
	diagByFamily  = 20 // SOCK_DIAG_BY_FAMILY
)

// socketQuery asks for one socket, by its own address and the other one's.
func socketQuery(own, other netip.AddrPort) []byte {
	b := make([]byte, netlinkHeader+diagRequest)
	host := binary.NativeEndian
	host.PutUint32(b[0:], uint32(len(b)))
	host.PutUint16(b[4:], diagByFamily)
	host.PutUint16(b[6:], syscall.NLM_F_REQUEST)
	r := b[netlinkHeader:]
	r[0], r[1] = syscall.AF_INET, syscall.IPPROTO_TCP
	if own.Addr().Is6() && !own.Addr().Is4In6() {
		r[0] = syscall.AF_INET6
	}
	host.PutUint32(r[4:], ^uint32(0)) // in any state
	binary.BigEndian.PutUint16(r[8:], own.Port())
	binary.BigEndian.PutUint16(r[10:], other.Port())
	copy(r[12:28], own.Addr().Unmap().AsSlice())
	copy(r[28:44], other.Addr().Unmap().AsSlice())
	host.PutUint32(r[48:], ^uint32(0)) // no cookie
	host.PutUint32(r[52:], ^uint32(0))
	return b
}
