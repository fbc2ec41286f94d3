//go:build !unix

package wire

import "net"

// isSilent reports whether nothing that a peer has sent waits to be read, which is not known here.
func isSilent(net.Conn) bool { return false }
