//go:build !unix

package wire

import "net"

// isSilent reports whether a peer's connection has no unread bytes, which is unknown on this system.
func isSilent(net.Conn) bool { return false }
