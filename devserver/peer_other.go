//go:build !linux

package devserver

import (
	"net"
	"time"
)

// peerPoll is how often the other end of a connection is looked at: never, here.
const peerPoll = time.Hour

// orphaned cannot be told here.
func orphaned(net.Conn) bool { return false }
